//! Tools, with which agents act.

mod context;
mod contract;
mod error;
pub(crate) mod function;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod permission;
mod schema;
pub(crate) mod state;

pub use context::ToolContext;
pub use contract::{Tool, ToolFuture, Tools};
pub use error::ToolError;
pub use function::FunctionTool;
#[cfg(feature = "mcp")]
pub use mcp::{McpError, McpOptions, McpServer};
pub use output::{IntoToolOutput, Json};
pub use permission::Permission;
pub(crate) use schema::schema_of;
