//! Errors of agents.

mod agent;
mod build;
mod input;

pub use agent::{AgentError, WithHookFailures};
pub use build::BuildError;
pub use input::InputError;
