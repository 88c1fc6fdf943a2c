//! Tools, with which agents act.

pub(crate) mod function;
mod output;
mod schema;
pub(crate) mod state;

pub use crate::call::tool::{
    Effect, Permission, ProgressSender, Tool, ToolContext, ToolFuture, Tools,
};
pub use crate::error::tool::ToolError;
pub use function::FunctionTool;
pub use output::{IntoToolOutput, Json};
pub(crate) use schema::schema_of;
