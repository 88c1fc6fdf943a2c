//! A guard for coding agents that stays: one process, one policy, state in memory.
//!
//! This crate is the feature `serve` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there.

mod decisions;
mod error;
mod limits;
mod listen;
mod reply;
mod server;
mod token;

pub use decisions::Decisions;
pub use error::ServeError;
pub use limits::NotHeld;
pub use server::Server;
pub use token::Token;
