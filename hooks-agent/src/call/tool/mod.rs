//! A tool call in a call of an agent: what a tool is, what it is told, and what was checked of it.

mod checked;
mod context;
mod contract;
mod permission;

pub(crate) use checked::CheckedCall;
pub use context::ToolContext;
pub use contract::{Tool, ToolFuture, Tools};
pub use permission::Permission;
