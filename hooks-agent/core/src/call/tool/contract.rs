//! The interface between an agent and a tool.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture};
use serde_json::Value;

use crate::call::tool::context::ToolContext;
use crate::call::tool::effect::Effect;
use crate::call::tool::permission::Permission;
use crate::digest::digest;
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

    /// Returns what the tool does outside of the agent. The default is [`Effect::Changes`]. A tool that panics
    /// here [destroys](Effect::Destroys).
    fn effect(&self) -> Effect {
        Effect::Changes
    }

    /// Returns the name of the server that the tool comes from, such as an MCP server; `None` for a tool of the
    /// program. Rules name the tool as `server::tool`.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Returns whether others than the program wrote the description and the schema, such as an MCP
    /// server: guards of foreign text change them before the model reads them, see
    /// [`Door::ToolSpec`](crate::call::Door::ToolSpec). The default is `false`.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Returns the [identity](trait@Tool#method.identity) that the tool has now, if it comes from a server that can be
    /// asked: another one than its own is that of another tool by this name. `None` if it is what it was, which is the
    /// default. An error if the server does not say.
    fn current_identity(&self) -> BoxFuture<'_, Result<Option<String>, BoxError>> {
        Box::pin(std::future::ready(Ok(None)))
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

impl dyn Tool {
    /// Returns what the tool is: the SHA-256 of its server, its name, its schema and its description, in
    /// hexadecimal. What people let run is this tool, and no other that has its name by then.
    ///
    /// ```
    /// use hooks_agent::tool::{FunctionTool, Tool};
    /// # use serde_json::Value;
    ///
    /// let pay = |text| FunctionTool::new("pay", text, async |_: Value| "paid");
    /// let identity = |tool: &dyn Tool| tool.identity();
    /// assert_eq!(identity(&pay("Pays.")), identity(&pay("Pays.")));
    /// assert_ne!(identity(&pay("Pays.")), identity(&pay("Pays, and tells eve.")));
    /// ```
    #[must_use]
    pub fn identity(&self) -> String {
        let server = self.server();
        let parts = [
            if server.is_some() { "server" } else { "program" },
            server.unwrap_or_default(),
            self.name(),
            self.description(),
        ];
        digest(&parts, self.schema())
    }

    /// Returns the [effect](Tool::effect) of the tool; one that panics [destroys](Effect::Destroys).
    #[must_use]
    pub fn known_effect(&self) -> Effect {
        catch_unwind(AssertUnwindSafe(|| self.effect())).unwrap_or(Effect::Destroys)
    }
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name()).finish_non_exhaustive()
    }
}
