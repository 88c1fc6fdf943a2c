//! Finds what in a tool call needs a person.

pub(crate) mod actions;
pub(crate) mod arguments;
pub(crate) mod destination;
pub(crate) mod doubt;
pub(crate) mod trace;
