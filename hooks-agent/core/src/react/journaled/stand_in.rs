//! A tool that returns what was recorded, in place of the agent's.

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
        // An error would make hooks wait and try again.
        let output = self.result.output.clone();
        Box::pin(async move { Ok(output) })
    }
}
