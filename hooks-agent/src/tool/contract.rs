//! The contract between an agent and a tool.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hooks_core::BoxError;
use serde_json::Value;

use crate::message::ToolUse;
use crate::tool::{Permission, ToolContext};

/// What running a tool gives: text for the model, or why it failed.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<String, BoxError>> + Send + 'a>>;

/// Tools that come with something: [`AgentHook::tools`](crate::AgentHook::tools).
pub type Tools = Vec<Arc<dyn Tool>>;

/// Something that a model may ask an agent to do.
///
/// [`FunctionTool`](crate::FunctionTool) makes one of an async function. An error is not the end of a call: the model
/// gets to read it and can try something else.
pub trait Tool: Any + Send + Sync {
    /// The name that the model calls it by; unique in an agent.
    fn name(&self) -> &str;

    /// What it does, for the model to read.
    fn description(&self) -> &str;

    /// The JSON schema of its arguments, an object.
    fn schema(&self) -> &Value;

    /// Whether a call of it may run. Hooks around `check_permission` have the last word.
    fn permission(&self, _call: &ToolUse) -> Permission {
        Permission::Allow
    }

    /// Runs it: the arguments are `cx.tool_use().input`, a JSON object. Dropping the future stops it.
    fn call(&self, cx: ToolContext) -> ToolFuture<'_>;
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name()).finish_non_exhaustive()
    }
}
