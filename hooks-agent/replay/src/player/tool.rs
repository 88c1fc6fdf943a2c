//! A tool that returns what a tape has.

use std::time::Duration;

use hooks_agent_core::message::{PendingCall, ToolOutput, ToolUse};
use hooks_agent_core::tool::{FunctionTool, ToolContext, ToolError};
use hooks_core::BoxError;
use serde_json::Value;

use crate::error::TapeError;
use crate::format::ToolLine;

/// What a tool returned.
pub(crate) struct ToolAnswer {
    ended: Result<ToolOutput, ToolError>,
    wait: Duration,
}

/// Returns a tool that returns what a tape has, in place of the agent's: `find` finds it when the tool would
/// run.
pub(crate) fn stand_in(
    name: impl Into<String>,
    find: impl Fn(&ToolUse) -> Result<ToolAnswer, TapeError> + Send + Sync + 'static,
) -> FunctionTool {
    let run = move |_: Value, cx: ToolContext| {
        let found = find(cx.tool_use());
        async move {
            let ToolAnswer { ended, wait } = found?;
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            ended.map_err(BoxError::from)
        }
    };
    FunctionTool::with_context(name, "Returns what was recorded.", run)
}

impl ToolAnswer {
    /// Creates the answer of a tool call that is not on the tape, which the model reads.
    pub(crate) fn unknown(call: &ToolUse) -> Self {
        let reason = format!("the tape has no result of this call of `{}`", call.name);
        Self { ended: Err(ToolError::Failed(reason.into())), wait: Duration::ZERO }
    }

    /// Reads the answer of a line. If `is_timed`, it comes after the recorded time.
    pub(crate) fn of(line: ToolLine<Value>, is_timed: bool) -> Result<Self, String> {
        let wait = if is_timed { line.ms } else { 0 };
        let output = line.output.ok_or("it has no field `output`")?;
        let ended = if line.is_error {
            Err(error(line.name, output.as_str().unwrap_or_default(), line.error)?)
        } else {
            Ok(serde_json::from_value(output).map_err(|error| error.to_string())?)
        };
        Ok(Self { ended, wait: Duration::from_millis(wait) })
    }
}

fn error(tool: String, text: &str, kind: Option<Value>) -> Result<ToolError, String> {
    let kind = kind.unwrap_or_default();
    let unreadable = |error: serde_json::Error| format!("its error is unreadable: {error}");
    if let Some(after) = kind.get("timed_out") {
        let after = serde_json::from_value(after.clone()).map_err(unreadable)?;
        return Ok(ToolError::TimedOut { tool, after });
    }
    if let Some(pending) = kind.get("waiting") {
        let pending: Vec<PendingCall> =
            serde_json::from_value(pending.clone()).map_err(unreadable)?;
        return Ok(ToolError::Waiting { pending });
    }
    Ok(match kind.as_str() {
        Some("panicked") => ToolError::Panicked { tool },
        _ => ToolError::Failed(text.into()),
    })
}
