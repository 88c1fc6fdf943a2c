//! Messages of users, models and tools.

mod history;
mod list;
mod msg;

pub use history::unanswered_tool_uses;
pub use list::Messages;
pub use msg::{ContentBlock, GenerateReason, Msg, Role, ToolResult, ToolUse};
