//! Tools, with which agents act.

pub use hooks_agent_core::tool::*;
#[cfg(feature = "mcp")]
pub use hooks_agent_providers::{McpError, McpOptions, McpServer};
