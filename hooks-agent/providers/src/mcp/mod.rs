//! Tools of servers that speak the Model Context Protocol (MCP).

mod error;
#[cfg(feature = "mcp-http")]
mod http;
mod options;
mod output;
mod pipes;
mod progress;
mod remote;
mod server;

pub use error::McpError;
pub use options::McpOptions;
pub use server::McpServer;
