//! The value of an expression over a tool call, within bounds of steps.

pub(super) mod facts;
pub(super) mod operators;
pub(super) mod run;
