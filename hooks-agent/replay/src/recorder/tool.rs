//! Records a call of a tool.

use std::sync::Arc;
use std::time::Instant;

use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::tool::ToolError;
use serde_json::{Value, json};

use crate::error::TapeError;
use crate::format::{Key, line_of};
use crate::recorder::writer::Recorder;
use crate::runs::{At, elapsed};

/// A call of a tool that is being recorded. When it is dropped before its end, it is written as
/// cancelled.
pub(crate) struct ToolTake {
    recorder: Arc<Recorder>,
    at: At,
    n: u32,
    call: ToolUse,
    start: Instant,
    is_ended: bool,
}

impl ToolTake {
    pub(crate) fn start(recorder: Arc<Recorder>, at: At, n: u32, call: ToolUse) -> Self {
        Self { recorder, at, n, call, start: Instant::now(), is_ended: false }
    }

    /// Writes the result of the tool. A call that did not reach the tool has no line.
    pub(crate) fn end(mut self, ended: &Result<ToolResult, ToolError>) {
        self.is_ended = true;
        let ended = match ended {
            Ok(result) => serde_json::to_value(&result.output).map(|output| (output, None)),
            Err(error) => match error_of(error) {
                Some(kind) => Ok((Value::String(error.to_string()), Some(kind))),
                None => return,
            },
        };
        let line =
            ended.map_err(TapeError::from).and_then(|(output, error)| self.line(output, error));
        self.recorder.write(&self.at, line.map(|line| line_of(&line)));
    }

    fn line(&self, output: Value, error: Option<Value>) -> Result<Value, TapeError> {
        let redact = |value| self.recorder.redactor.value(&self.at.scope, value);
        let input = redact(self.call.input.clone())?;
        let id = self.recorder.redactor.text(&self.at.scope, &self.call.id)?;
        let mut line = json!({
            "id": id,
            "is_error": error.is_some(),
            "key": Key::of_tool(&self.call.name, &input).to_string(),
            "ms": elapsed(self.start),
            "n": self.n,
            "name": self.call.name,
            "output": redact(output)?,
            "run": self.at.run,
            "t": "tool",
        });
        line["input"] = input;
        if let Some(error) = error {
            line["error"] = redact(error)?;
        }
        Ok(line)
    }
}

impl Drop for ToolTake {
    fn drop(&mut self) {
        if !self.is_ended {
            let line = self.line("the tool call was cancelled".into(), Some(json!("cancelled")));
            self.recorder.write(&self.at, line.map(|line| line_of(&line)));
        }
    }
}

/// Returns what kind of error the tool gave; `None` if the call did not reach the tool.
fn error_of(error: &ToolError) -> Option<Value> {
    match error {
        ToolError::Failed(_) => Some(json!("failed")),
        ToolError::Panicked { .. } => Some(json!("panicked")),
        ToolError::TimedOut { after, .. } => Some(json!({ "timed_out": after })),
        ToolError::Waiting { pending } => Some(json!({ "waiting": pending })),
        _ => None,
    }
}
