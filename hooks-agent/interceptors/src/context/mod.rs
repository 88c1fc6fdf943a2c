//! Values of agents as the specification has them, and back.
//!
//! A value that no interceptor changed stays the agent's own, with the fields that the specification does not have.
//! Where a changed value cannot be read back, the error is its path.

pub(crate) mod message;
pub(crate) mod output;
pub(crate) mod response;
pub(crate) mod tool;

/// The path of what cannot be read back.
pub(crate) type Path = &'static str;
