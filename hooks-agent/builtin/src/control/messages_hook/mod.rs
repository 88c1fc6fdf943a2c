//! A hook that works on lists of messages.

mod command;
mod hook;

pub use command::{AgentCommand, CommandError, UpdatePolicy};
pub use hook::MessagesHook;
