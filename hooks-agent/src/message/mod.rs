//! Messages of users, models and tools.

mod history;
mod messages;
mod msg;

pub use history::unanswered_tool_uses;
pub use messages::Messages;
pub use msg::{ContentBlock, GenerateReason, Msg, Role, ToolResult, ToolUse};
