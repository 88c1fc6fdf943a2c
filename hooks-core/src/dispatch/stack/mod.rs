//! The stack of hooked calls that the running code is inside of, and work that is carried in or out of it.

pub(crate) mod carry;
pub(crate) mod guard;
