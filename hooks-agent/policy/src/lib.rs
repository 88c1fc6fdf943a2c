//! Hooks of agents that are written without Rust.
//!
//! This crate is the features `command`, `command-http` and `policy` of [`hooks-agent`](https://docs.rs/hooks-agent); programs
//! use it from there. A library that has options in policy files depends on it.
//!
//! | module | who writes hooks |
//! |---|---|
//! | [`command`] | a security team: programs in any language, which receive JSON and answer by an exit code; servers (feature `command-http`), tools and models in their place |
//! | `policy` (feature `policy`) | an operator: files that set up built-in hooks, commands and limits |

pub mod command;
#[cfg(feature = "policy")]
pub mod policy;
