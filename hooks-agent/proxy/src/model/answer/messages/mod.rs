//! Answers in the form of messages: `read` and `write` while they stream, `whole` at once.

mod read;
mod whole;
mod write;

pub(super) use read::ReadMessages;
pub(super) use whole::{parts, settle};
pub(super) use write::WriteMessages;
