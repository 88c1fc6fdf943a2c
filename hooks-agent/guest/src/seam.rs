//! Where the tool would run: a tool call that gets there was let through by all hooks.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent_hook;
use hooks_agent_core::hook::{NextTool, ToolCall};
use hooks_agent_core::message::{ToolOutput, ToolResult, ToolUse};
use hooks_agent_core::tool::{Tool, ToolContext, ToolError, ToolFuture};
use serde_json::Value;

/// What the tool does.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// It runs elsewhere: the tool call waits.
    Waits,
    /// It has run, with this output.
    Returned(ToolOutput),
}

/// The innermost hook around tool calls. It notes the tool call that reaches the tool.
#[derive(Clone)]
pub(super) struct Seam(Arc<Noted>);

struct Noted {
    outcome: Outcome,
    schema: Value,
    reached: Mutex<Option<ToolUse>>,
}

impl Seam {
    pub(super) fn new(outcome: Outcome) -> Self {
        let (schema, reached) = (serde_json::json!({ "type": "object" }), Mutex::default());
        Self(Arc::new(Noted { outcome, schema, reached }))
    }

    /// Returns the tool call as it reached the tool, if it did.
    pub(super) fn reached(&self) -> Option<ToolUse> {
        self.0.reached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[agent_hook(name = "hooks-agent", priority = i32::MAX)]
impl Seam {
    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        next.run_tool(call.into_tool_use(), self.0.clone()).await
    }
}

impl Tool for Noted {
    fn name(&self) -> &'static str {
        "hooks-agent"
    }

    fn description(&self) -> &'static str {
        "Stands in for a tool of another agent."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        let reached = cx.tool_use().clone();
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = Some(reached);
        Box::pin(async {
            match &self.outcome {
                Outcome::Waits => Err(ToolError::Waiting { pending: Vec::new() }.into()),
                Outcome::Returned(output) => Ok(output.clone()),
            }
        })
    }
}

impl fmt::Debug for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noted").finish_non_exhaustive()
    }
}
