//! A server behind a wire that is cut, delayed and swallowed.

mod cuts;
mod silence;
pub(crate) mod wire;
