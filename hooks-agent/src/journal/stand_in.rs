//! A tool that returns what was recorded, in place of the agent's.

use hooks_core::BoxError;
use serde_json::{Value, json};

use crate::message::ToolResult;
use crate::tool::{Tool, ToolContext, ToolFuture};

pub(super) struct StandIn {
    name: String,
    schema: Value,
    result: ToolResult,
}

impl StandIn {
    pub(super) fn new(result: ToolResult) -> Self {
        Self { name: result.name.clone(), schema: json!({ "type": "object" }), result }
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

    fn call(&self, _: ToolContext) -> ToolFuture<'_> {
        let ToolResult { output, is_error, .. } = self.result.clone();
        let ended = if is_error { Err(BoxError::from(output.as_str())) } else { Ok(output) };
        Box::pin(async move { ended })
    }
}
