//! Questions to people about tool calls, and their decisions.

mod decision;
mod error;
mod review;
mod waiting;

pub use decision::{Decided, Decision, Verdict};
pub use error::DecisionError;
pub use review::review;
pub(crate) use review::{EXPIRED, EXPIRY, by_call};
pub use waiting::Waiting;
