//! Values of agents as the specification has them, and back.
//!
//! What comes back is compared with what went out: a value that nobody changed is the agent's own, with all that the
//! specification has no place for. The error of what cannot be read back is its path.

pub(crate) mod message;
pub(crate) mod output;
pub(crate) mod response;
pub(crate) mod tool;

/// The path of what cannot be read back.
pub(crate) type Path = &'static str;
