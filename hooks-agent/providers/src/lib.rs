//! Models over HTTP, their embeddings, recognizers, and tools of servers that speak the Model Context Protocol.
//!
//! This crate is the features `genai`, `mcp`, `mcp-http` and `recognizer` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there, as `model::GenAiModel`,
//! `builtin::knowledge::GenAiEmbedder`, `tool::McpServer` and `model::RemoteRecognizer`.
//! [The guide] says how agents use them.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/agents/index.html

#[cfg(feature = "genai")]
mod embedder;
#[cfg(feature = "genai")]
mod genai;
#[cfg(any(feature = "genai", feature = "mcp-http", feature = "recognizer"))]
mod http;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "recognizer")]
mod recognizer;

#[cfg(feature = "genai")]
pub use self::embedder::GenAiEmbedder;
#[cfg(feature = "genai")]
pub use self::genai::GenAiModel;
#[cfg(feature = "mcp")]
pub use self::mcp::{McpError, McpOptions, McpServer};
#[cfg(feature = "recognizer")]
pub use self::recognizer::{RemoteRecognizer, RemoteRecognizerError};
