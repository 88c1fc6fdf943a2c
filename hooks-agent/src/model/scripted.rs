//! A model in process, for examples and tests: a closure decides.

use std::fmt;

use futures::stream;

use crate::message::{ContentBlock, ToolUse};
use crate::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError};
use crate::usage::Usage;

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
        let chunks = match (self.script)(&request) {
            ScriptedAnswer::Whole { content, usage } => {
                let chunks = content.into_iter().flat_map(chunks_of);
                chunks.chain([ChatChunk::End(usage)]).map(Ok).collect()
            }
            ScriptedAnswer::Stream(chunks) => chunks,
        };
        Box::pin(stream::iter(chunks))
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a script answers: text, a tool call, blocks, an error of the model, or a stream piece by piece.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ScriptedAnswer {
    /// A complete answer.
    Whole {
        /// What it says.
        content: Vec<ContentBlock>,
        /// What it cost.
        usage: Usage,
    },
    /// What comes, as it comes. A complete answer ends with [`ChatChunk::End`].
    Stream(Vec<Result<ChatChunk, ModelError>>),
}

impl ScriptedAnswer {
    /// Says what the answer cost.
    #[must_use]
    pub fn costing(self, cost: Usage) -> Self {
        match self {
            Self::Whole { content, .. } => Self::Whole { content, usage: cost },
            Self::Stream(mut chunks) => {
                chunks.push(Ok(ChatChunk::End(cost)));
                Self::Stream(chunks)
            }
        }
    }
}

impl From<Vec<ContentBlock>> for ScriptedAnswer {
    fn from(content: Vec<ContentBlock>) -> Self {
        Self::Whole { content, usage: Usage::default() }
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
        Self::Stream(vec![Err(error)])
    }
}

fn chunks_of(block: ContentBlock) -> Vec<ChatChunk> {
    match block {
        ContentBlock::Text { text } => {
            text.split_inclusive(' ').map(|word| ChatChunk::Text(word.to_owned())).collect()
        }
        ContentBlock::Thinking { thinking, signature } => {
            let signature = signature.map(ChatChunk::Signature);
            [ChatChunk::Thinking(thinking)].into_iter().chain(signature).collect()
        }
        ContentBlock::RedactedThinking { data } => vec![ChatChunk::RedactedThinking(data)],
        ContentBlock::ToolUse(call) => vec![ChatChunk::ToolUse(call)],
        ContentBlock::ToolResult(_) => Vec::new(),
    }
}
