//! Where the tool would run: a tool call that gets there was let through by all hooks.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent_hook;
use hooks_agent_core::hook::{NextTool, ToolCall};
use hooks_agent_core::message::{ToolOutput, ToolResult, ToolUse};
use hooks_agent_core::tool::{FunctionTool, ToolContext, ToolError};
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
pub(super) struct Seam {
    outcome: Outcome,
    reached: Arc<Mutex<Option<ToolUse>>>,
}

impl Seam {
    pub(super) fn new(outcome: Outcome) -> Self {
        Self { outcome, reached: Arc::default() }
    }

    /// Returns the tool call as it reached the tool, if it did.
    pub(super) fn reached(&self) -> Option<ToolUse> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a tool that stands in for the one of another agent.
    fn tool(&self) -> FunctionTool {
        let Self { outcome, reached } = self.clone();
        let run = move |_: Value, cx: ToolContext| {
            let call = cx.tool_use().clone();
            *reached.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
            let outcome = outcome.clone();
            async move {
                match outcome {
                    Outcome::Waits => Err(ToolError::Waiting { pending: Vec::new() }),
                    Outcome::Returned(output) => Ok(output),
                }
            }
        };
        FunctionTool::with_context("hooks-agent", "Stands in for a tool of another agent.", run)
    }
}

#[agent_hook(name = "hooks-agent", priority = i32::MAX)]
impl Seam {
    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        next.run_tool(call.into_tool_use(), Arc::new(self.tool())).await
    }
}
