//! The program `hooks-agent-ask`: passes an event on to `hooks-agent serve`, and prints what it answers.
//!
//! A coding agent starts it at each event, so it is small. This crate is the feature `cli` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent), whose program calls [`main`].

mod args;
mod ask;
mod program;
mod reply;

pub use program::main;
