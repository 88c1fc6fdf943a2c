//! The model and the tools of a scenario.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::stream;
use hooks_agent_core::message::{ToolOutput, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
};
use hooks_agent_core::tool::{Tool, ToolContext, ToolFuture};
use serde_json::{Value, json};

/// The tool calls that ran.
pub(crate) type Invoked = Arc<Mutex<Vec<Value>>>;

/// Answers with the responses of a scenario, in order.
pub(crate) struct ScenarioModel {
    script: Vec<Value>,
    next: AtomicUsize,
}

impl ScenarioModel {
    pub(crate) fn new(scenario: &Value) -> Self {
        let script = scenario["model_script"].as_array().cloned().unwrap_or_default();
        Self { script, next: AtomicUsize::new(0) }
    }
}

impl ChatModel for ScenarioModel {
    fn name(&self) -> &'static str {
        "mock"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(step) = self.script.get(number) else {
            let reason = "the script has ended".to_owned();
            let error = ModelError::Failed { model: "mock".to_owned(), reason };
            return Box::pin(stream::iter([Err(error)]));
        };
        Box::pin(stream::iter(chunks(&step["respond"]).into_iter().map(Ok)))
    }
}

fn chunks(respond: &Value) -> Vec<ChatChunk> {
    let mut chunks: Vec<_> = match (&respond["stream"], &respond["content"]) {
        (Value::Array(parts), _) => parts.iter().filter_map(text).collect(),
        (_, content) => text(content).into_iter().collect(),
    };
    for call in respond["tool_calls"].as_array().into_iter().flatten() {
        let [id, name] = ["id", "name"].map(|field| call[field].as_str().unwrap_or_default());
        chunks.push(ChatChunk::ToolUse(ToolUse::new(id, name, call["args"].clone())));
    }
    let finish = match respond["finish_reason"].as_str() {
        Some("tool_calls") => FinishReason::ToolCalls,
        Some("stop") => FinishReason::Stop,
        other => panic!("the finish reason {other:?} is new"),
    };
    if respond["stream_truncated"] != json!(true) {
        chunks.push(ChatChunk::End { usage: Usage::new(3, 2), finish });
    }
    chunks
}

fn text(value: &Value) -> Option<ChatChunk> {
    Some(ChatChunk::Text(value.as_str()?.to_owned()))
}

/// Returns what a scenario says, and notes each tool call that runs.
pub(crate) struct ScenarioTool {
    name: String,
    schema: Value,
    behavior: Vec<Value>,
    invoked: Invoked,
}

impl ScenarioTool {
    pub(crate) fn all(scenario: &Value, invoked: &Invoked) -> Vec<Self> {
        let tools = scenario["tools"].as_array().into_iter().flatten();
        let tools = tools.map(|tool| Self {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            schema: json!({ "type": "object" }),
            behavior: tool["behavior"].as_array().cloned().unwrap_or_default(),
            invoked: invoked.clone(),
        });
        tools.collect()
    }
}

impl Tool for ScenarioTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &'static str {
        "A tool of a scenario."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let args = cx.tool_use().input.clone();
            self.invoked.lock().unwrap().push(json!({ "name": self.name, "args": args }));
            let fits = |clause: &&Value| clause.get("when_args").is_none_or(|when| *when == args);
            let clause = self.behavior.iter().find(fits).ok_or("no clause fits")?;
            let output = match &clause["return"] {
                Value::String(text) => ToolOutput::text(text),
                value => ToolOutput::json(value.clone()),
            };
            if clause["is_error"] == json!(true) {
                Err(output.as_str().to_owned().into())
            } else {
                Ok(output)
            }
        })
    }
}
