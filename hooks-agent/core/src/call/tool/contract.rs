//! The interface between an agent and a tool.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hooks_core::BoxError;
use serde_json::Value;

use crate::call::tool::context::ToolContext;
use crate::call::tool::permission::Permission;
use crate::message::{ToolOutput, ToolUse};

/// The future of a tool call: its output, or an error.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, BoxError>> + Send + 'a>>;

/// A list of tools, as [`AgentHook::tools`](crate::hook::AgentHook::tools) returns it.
pub type Tools = Vec<Arc<dyn Tool>>;

/// A tool that a model may call.
///
/// [`#[tool]`](macro@crate::tool) makes a tool of a function,
/// [`FunctionTool`](crate::tool::FunctionTool) of a closure. An error does not fail the call of the
/// agent: the model reads it and may try something else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "of a function marked `#[tool]`, the tool is its name in CamelCase: `.tool(Weather)` for `weather`; \
            another function or a closure is wrapped: `FunctionTool::new(name, description, function)`"
)]
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

    /// Returns whether the tool may run again with the same arguments without further effect. Only
    /// such a tool is repeated by what cannot know whether the first run took effect: a retry after
    /// an error, or a call that continues after a crash. The default is `false`.
    fn is_idempotent(&self) -> bool {
        false
    }

    /// Returns whether others than the program wrote the description and the schema, such as an MCP
    /// server: guards of foreign text change them before the model reads them, see
    /// [`Door::ToolSpec`](crate::call::Door::ToolSpec). The default is `false`.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Returns whether the tool goes on where it was, if it runs again after its process ended.
    #[doc(hidden)]
    fn continues(&self) -> bool {
        false
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
