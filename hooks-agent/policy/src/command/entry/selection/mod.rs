//! Which events a command is for: its matcher, and its condition about the arguments of a tool call. Nothing
//! here knows what runs.

mod condition;
mod matcher;
mod shell;

pub(super) use condition::Condition;
pub(crate) use matcher::Matcher;
