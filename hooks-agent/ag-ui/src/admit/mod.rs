//! Admits an input to its thread: finds the messages that are new and the decisions about tool calls that
//! wait. It refuses before anything changes.

mod decide;
mod messages;
mod plan;
mod waiting;

pub(super) use plan::{Idle, Plan, plan};
