//! The contract of tools, the context of a tool call, and its check before it runs.

mod checked;
mod context;
mod contract;
mod effect;
mod permission;
mod reports;

pub(crate) use checked::CheckedCall;
pub use context::{ProgressSender, ToolContext};
pub use contract::{Tool, ToolFuture, Tools};
pub use effect::Effect;
pub use permission::Permission;
pub(crate) use reports::Reports;
