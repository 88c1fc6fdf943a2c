//! Errors of agents.

mod agent;
mod build;
pub(crate) mod journal;
mod kinds;
mod reports;
mod text_blocked;
pub(crate) mod tool;
mod transient;

pub use crate::message::input::InputError;
pub use crate::report::{ErrorKind, ErrorReport};
pub use agent::AgentError;
pub use build::BuildError;
pub use text_blocked::TextBlocked;
