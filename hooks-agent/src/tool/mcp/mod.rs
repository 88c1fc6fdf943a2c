//! Tools of servers that speak the Model Context Protocol (MCP).

mod error;
mod pipes;
mod remote;
mod server;
mod text;

pub use error::McpError;
pub use server::McpServer;
