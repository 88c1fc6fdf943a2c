//! Guards between agents and their servers: hooks decide about what passes, whatever the agent is.
//!
//! [`ModelProxy`] is one at the API of a model, [`mcp`] at MCP servers.
//!
//! This crate is the feature `proxy` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there.

pub mod mcp;
mod model;

pub use model::{ModelProxy, Provider, ProxyError, ProxyThreads};
