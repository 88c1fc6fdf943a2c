//! Tools: what an agent can do.

mod context;
mod contract;
mod error;
mod function;
mod permission;

pub use context::ToolContext;
pub use contract::{Tool, ToolFuture, Tools};
pub use error::ToolError;
pub(crate) use function::schema_of;
pub use function::{FunctionTool, IntoToolOutput};
pub use permission::Permission;
