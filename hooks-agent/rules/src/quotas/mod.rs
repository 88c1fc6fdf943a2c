//! Quotas: how many calls, tool calls, tokens, and how much money, in a window of time, by whom.

mod builder;
mod checked;
mod hook;
mod model_calls;

#[cfg(feature = "policy")]
mod options;
mod quota;
mod unsettled;
mod windows;

pub use builder::QuotasBuilder;
pub use hook::Quotas;
pub use quota::{Per, Quota, QuotaExit, Within};
