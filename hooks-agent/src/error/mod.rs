//! Errors of agents.

mod agent;
mod build;
mod input;
mod kinds;
mod reports;
mod text_blocked;
mod transient;

pub use crate::report::{ErrorKind, ErrorReport};
pub use agent::AgentError;
pub use build::BuildError;
pub use input::InputError;
pub use text_blocked::TextBlocked;
