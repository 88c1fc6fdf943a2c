//! What an input means for the thread: the messages that are new, and the decisions about what waits. It
//! refuses before anything changes.

mod decide;
mod messages;
mod plan;
mod waiting;

pub(super) use plan::{Idle, Plan, plan};
