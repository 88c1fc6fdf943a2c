//! Tools, with which agents act.

#[cfg(feature = "mcp")]
mod mcp;

pub use hooks_agent_core::tool::*;
#[cfg(feature = "mcp")]
pub use mcp::{McpError, McpOptions, McpServer};
