//! Questions to people about tool calls, and their decisions.

mod approval;
mod decision;
mod error;
mod review;
mod waiting;

pub(crate) use approval::Book;
pub use approval::{Allowed, Approval, ApprovalRule, NotRemembered, Reach, Remember, recall};
pub use decision::{Decided, Decision, Verdict};
pub(crate) use decision::{EXPIRED, EXPIRY};
pub use error::DecisionError;
pub(crate) use review::by_call;
pub use review::{Reviewed, review};
pub use waiting::Waiting;
