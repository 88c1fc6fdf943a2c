//! The client's view of a conversation: the messages of a thread, and the events of a call.

mod answer;
mod call;
mod content;
mod end;
mod failure;
mod machine;
mod replay;
mod snapshot;

pub(super) use content::{blocks_of, text_of};
pub(super) use machine::{About, RefusedBelow, Resumed, Transcript};
pub(super) use replay::{Replay, replay};
