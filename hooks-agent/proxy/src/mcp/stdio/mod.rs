//! Streams whose messages are lines: those of an agent, and those of a server that is a process.

mod command;
mod lines;
mod pipes;
pub(super) mod refuse;
