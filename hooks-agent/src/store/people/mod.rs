//! Questions to people about tool calls, and their decisions.

mod decision;
mod digest;
mod error;
mod review;
mod waiting;

pub use decision::{Decided, Decision, Verdict};
pub use error::DecisionError;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use review::review;
pub(crate) use review::{EXPIRED, EXPIRY};
pub use waiting::Waiting;
