//! A model in process, for examples and tests: a closure decides.

use std::fmt;

use futures::stream;

use crate::message::{ContentBlock, ToolUse};
use crate::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError, Usage};

/// A model that is a closure: it sees the request and decides what to answer.
///
/// It streams like a real one, text word by word.
///
/// ```
/// use hooks_agent::{ScriptedAnswer, ScriptedModel, ToolUse};
/// use serde_json::json;
///
/// let model = ScriptedModel::new("planner", |request| -> ScriptedAnswer {
///     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
///         Some(result) => format!("the tool says: {}", result.output).into(),
///         None => ToolUse::new("1", "clock", json!({})).into(),
///     }
/// });
/// ```
pub struct ScriptedModel {
    name: String,
    script: Box<dyn Fn(&ChatRequest) -> ScriptedAnswer + Send + Sync>,
}

impl ScriptedModel {
    /// A model of that name that answers what the closure says.
    pub fn new<F, A>(name: impl Into<String>, script: F) -> Self
    where
        F: Fn(&ChatRequest) -> A + Send + Sync + 'static,
        A: Into<ScriptedAnswer>,
    {
        Self { name: name.into(), script: Box::new(move |request| script(request).into()) }
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let chunks = match (self.script)(&request).outcome {
            Ok(content) => {
                let chunks = content.into_iter().flat_map(chunks_of);
                chunks.chain([ChatChunk::End(Usage::default())]).map(Ok).collect()
            }
            Err(error) => vec![Err(error)],
        };
        Box::pin(stream::iter(chunks))
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a script answers: text, a tool call, blocks, or an error of the model.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    outcome: Result<Vec<ContentBlock>, ModelError>,
}

impl From<Vec<ContentBlock>> for ScriptedAnswer {
    fn from(content: Vec<ContentBlock>) -> Self {
        Self { outcome: Ok(content) }
    }
}

impl From<String> for ScriptedAnswer {
    fn from(text: String) -> Self {
        vec![ContentBlock::text(text)].into()
    }
}

impl From<&str> for ScriptedAnswer {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<ToolUse> for ScriptedAnswer {
    fn from(call: ToolUse) -> Self {
        vec![ContentBlock::ToolUse(call)].into()
    }
}

impl From<ModelError> for ScriptedAnswer {
    fn from(error: ModelError) -> Self {
        Self { outcome: Err(error) }
    }
}

fn chunks_of(block: ContentBlock) -> Vec<ChatChunk> {
    match block {
        ContentBlock::Text { text } => {
            text.split_inclusive(' ').map(|word| ChatChunk::Text(word.to_owned())).collect()
        }
        ContentBlock::Thinking { thinking } => vec![ChatChunk::Thinking(thinking)],
        ContentBlock::ToolUse(call) => vec![ChatChunk::ToolUse(call)],
        ContentBlock::ToolResult(_) => Vec::new(),
    }
}
