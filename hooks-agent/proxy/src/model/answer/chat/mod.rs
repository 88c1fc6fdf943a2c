//! Answers in the form of chat completions: `read` and `write` while they stream, `whole` at once.

mod read;
mod whole;
mod write;

pub(super) use read::ReadChat;
pub(super) use whole::{parts, settle};
pub(super) use write::WriteChat;
