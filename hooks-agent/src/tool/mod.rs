//! Tools, with which agents act.

pub(crate) mod function;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod schema;
pub(crate) mod state;

pub use crate::call::tool::{Permission, Tool, ToolContext, ToolFuture, Tools};
pub use crate::error::tool::ToolError;
pub use function::FunctionTool;
#[cfg(feature = "mcp")]
pub use mcp::{McpError, McpOptions, McpServer};
pub use output::{IntoToolOutput, Json};
pub(crate) use schema::schema_of;
