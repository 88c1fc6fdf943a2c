//! Answers in the form of responses: `read` and `write` while they stream, `whole` at once; `item` has what calls are.

mod item;
mod read;
mod slots;
mod whole;
mod write;

pub(super) use item::unanswered;
pub(super) use read::ReadResponses;
pub(super) use whole::{parts, settle};
pub(super) use write::WriteResponses;
