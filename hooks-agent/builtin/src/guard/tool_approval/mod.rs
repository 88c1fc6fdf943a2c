//! Approval of tool calls by a decider in the program.

mod decision;
mod hook;
mod ledger;

pub use decision::{ApprovalRequest, Decision, IntoDecision};
pub use hook::ToolApproval;
