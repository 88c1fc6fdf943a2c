//! Messages of users, models and tools.

mod history;
mod messages;
mod msg;
mod pending;

pub use history::unanswered_tool_uses;
pub use messages::Messages;
pub use msg::{ContentBlock, GenerateReason, Msg, Role, ToolResult, ToolUse};
pub(crate) use pending::open_calls;
pub use pending::{PendingCall, PendingReason};
