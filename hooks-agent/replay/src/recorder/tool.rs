//! Records a call of a tool.

use std::sync::Arc;
use std::time::Instant;

use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::tool::ToolError;
use serde_json::{Value, json};

use crate::error::TapeError;
use crate::recorder::lines::Called;
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
        self.recorder.write(&self.at, line);
    }

    fn line(&self, output: Value, error: Option<Value>) -> Result<String, TapeError> {
        let Self { recorder, at, n, call, start, .. } = self;
        let called = Called { run: &at.run, n: *n, call, ms: elapsed(*start) };
        called.line(&recorder.redactor, &at.scope, output, error)
    }
}

impl Drop for ToolTake {
    fn drop(&mut self) {
        if !self.is_ended {
            let line = self.line("the tool call was cancelled".into(), Some(json!("cancelled")));
            self.recorder.write(&self.at, line);
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
