//! The hook: it turns events of an agent into runs of commands, and their decision into the flow of
//! the event. `at/` has one file for each step of a call.

mod ask;
mod at;
mod builder;
mod command_hooks;
mod commands;
mod input;
mod sessions;
mod state;

pub use builder::CommandHooksBuilder;
pub use command_hooks::CommandHooks;
