//! A tool that returns what a tape has.

use std::time::Duration;

use hooks_agent_core::message::{PendingCall, ToolOutput, ToolUse};
use hooks_agent_core::tool::{Tool, ToolContext, ToolError, ToolFuture};
use hooks_core::BoxError;
use serde_json::{Value, json};

use crate::error::TapeError;
use crate::format::Line;

/// Finds what the tape has for a tool call, when the tool would run.
type Find = Box<dyn Fn(&ToolUse) -> Result<ToolAnswer, TapeError> + Send + Sync>;

/// A tool in place of the agent's.
pub(crate) struct StandIn {
    name: String,
    schema: Value,
    find: Find,
}

/// What a tool returned.
pub(crate) struct ToolAnswer {
    ended: Result<ToolOutput, ToolError>,
    wait: Duration,
}

impl StandIn {
    pub(crate) fn new(
        name: impl Into<String>,
        find: impl Fn(&ToolUse) -> Result<ToolAnswer, TapeError> + Send + Sync + 'static,
    ) -> Self {
        let schema = json!({ "type": "object" });
        Self { name: name.into(), schema, find: Box::new(find) }
    }
}

impl Tool for StandIn {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &'static str {
        "Returns what was recorded."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let ToolAnswer { ended, wait } = (self.find)(cx.tool_use())?;
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            ended.map_err(BoxError::from)
        })
    }
}

impl ToolAnswer {
    /// Creates the answer of a tool call that is not on the tape, which the model reads.
    pub(crate) fn unknown(call: &ToolUse) -> Self {
        let reason = format!("the tape has no result of this call of `{}`", call.name);
        Self { ended: Err(ToolError::Failed(reason.into())), wait: Duration::ZERO }
    }

    /// Reads the answer of a line. If `is_timed`, it comes after the recorded time.
    pub(crate) fn of(line: &mut Line<Value>, is_timed: bool) -> Result<Self, String> {
        let wait = if is_timed { line.ms.unwrap_or(0) } else { 0 };
        let tool = line.name.clone().unwrap_or_default();
        let output = line.output.take().ok_or("it has no field `output`")?;
        let ended = if line.is_error {
            Err(error(tool, output.as_str().unwrap_or_default(), line.error.take())?)
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
