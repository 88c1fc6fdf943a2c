//! Hooks that control the messages of a call.

mod messages_hook;

pub use messages_hook::{AgentCommand, CommandError, MessagesHook, UpdatePolicy};
