//! Names and types of an expression, found before it runs.

pub(super) mod calls;
pub(super) mod names;
pub(super) mod node;
pub(super) mod types;
