//! Tools, with which agents act.

mod context;
mod contract;
mod error;
mod function;
#[cfg(feature = "mcp")]
mod mcp;
mod permission;

pub use context::ToolContext;
pub use contract::{Tool, ToolFuture, Tools};
pub use error::ToolError;
pub(crate) use function::schema_of;
pub use function::{FunctionTool, IntoToolOutput};
#[cfg(feature = "mcp")]
pub use mcp::{McpError, McpServer};
pub use permission::Permission;
