//! Errors of agents.

mod agent;
mod build;
mod input;

pub use agent::AgentError;
pub use build::BuildError;
pub use input::InputError;
