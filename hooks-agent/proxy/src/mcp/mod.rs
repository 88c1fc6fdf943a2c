//! A guard between any agent and its MCP servers.
//!
//! [The guide](https://docs.rs/hooks-agent/latest/hooks_agent/guide/mcp_proxy/index.html) says what is decided about, and what passes.

mod error;
mod http;
mod messages;
mod proxy;
mod report;
mod stdio;

pub use error::McpProxyError;
pub use proxy::McpProxy;
pub use stdio::refuse::refuse;
