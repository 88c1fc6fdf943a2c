//! The interface between an agent and a tool.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hooks_core::BoxError;
use serde_json::Value;

use crate::message::ToolUse;
use crate::tool::{Permission, ToolContext};

/// The future of a tool call: text for the model, or an error.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<String, BoxError>> + Send + 'a>>;

/// A list of tools, as [`AgentHook::tools`](crate::AgentHook::tools) returns it.
pub type Tools = Vec<Arc<dyn Tool>>;

/// A tool that a model may call.
///
/// [`FunctionTool`](crate::FunctionTool) creates a tool from an async function. An error does not
/// fail the call of the agent: the model reads it and may try something else.
pub trait Tool: Any + Send + Sync {
    /// Returns the name by which the model calls the tool; unique in an agent.
    fn name(&self) -> &str;

    /// Returns the description that the model reads.
    fn description(&self) -> &str;

    /// Returns the JSON schema of the arguments, an object.
    fn schema(&self) -> &Value;

    /// Returns whether a tool call may run. Hooks of `check_permission` may override it.
    fn permission(&self, _call: &ToolUse) -> Permission {
        Permission::Allow
    }

    /// Runs the tool with the arguments `cx.tool_use().input`, a JSON object. Dropping the future
    /// cancels the tool.
    fn call(&self, cx: ToolContext) -> ToolFuture<'_>;
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name()).finish_non_exhaustive()
    }
}
