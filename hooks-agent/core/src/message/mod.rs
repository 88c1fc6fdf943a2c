//! Messages of users, models and tools.

mod asker;
mod block;
mod hidden;
mod history;
pub(crate) mod input;
mod media;
mod messages;
mod msg;
mod note;
mod output;
mod pending;
mod question;
mod strings;
mod visible;

pub use crate::identity::{Approvers, NotApprover};
pub use crate::usage::Usage;
pub use asker::{ApprovedBy, Asker};
pub use block::{ContentBlock, ToolResult, ToolUse};
pub use history::unanswered_tool_uses;
pub use media::{Media, MediaSource};
pub use messages::{Messages, MessagesIter, SharedMessages};
pub use msg::{GenerateReason, Msg, Role};
pub use note::Note;
pub(crate) use output::Part;
pub use output::ToolOutput;
pub(crate) use pending::open_calls;
pub use pending::{PendingCall, PendingReason};
pub use question::{DecisionKind, Question, Wording};
pub(crate) use strings::{map_strings, number_text};
pub use visible::{is_blank, is_invisible, visible};
