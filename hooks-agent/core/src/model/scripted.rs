//! A model in process, for examples and tests.

use std::borrow::Cow;
use std::fmt;

use futures::stream;

use crate::message::{ContentBlock, ToolUse};
use crate::model::chat::{ChatChunk, ChatModel, ChatRequest, ChatStream, UNKNOWN_PROVIDER};
use crate::model::error::ModelError;
use crate::usage::Usage;

/// A model that answers with a closure of the request.
///
/// The answer streams like that of a real model; text streams word by word.
///
/// ```
/// use hooks_agent::message::ToolUse;
/// use hooks_agent::model::{ScriptedAnswer, ScriptedModel};
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
    provider: Cow<'static, str>,
    window: Option<u64>,
    script: Box<dyn Fn(&ChatRequest) -> ScriptedAnswer + Send + Sync>,
}

impl ScriptedModel {
    /// Creates a model of this name that answers with the closure.
    pub fn new<F, A>(name: impl Into<String>, script: F) -> Self
    where
        F: Fn(&ChatRequest) -> A + Send + Sync + 'static,
        A: Into<ScriptedAnswer>,
    {
        Self {
            name: name.into(),
            provider: UNKNOWN_PROVIDER.into(),
            window: None,
            script: Box::new(move |request| script(request).into()),
        }
    }

    /// Sets the [provider](ChatModel::provider).
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<Cow<'static, str>>) -> Self {
        self.provider = provider.into();
        self
    }

    /// Sets the context window, in tokens.
    #[must_use]
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> Cow<'static, str> {
        self.provider.clone()
    }

    fn context_window(&self) -> Option<u64> {
        self.window
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let chunks = match (self.script)(&request) {
            ScriptedAnswer::Whole { content, usage } => {
                let chunks = content.into_iter().flat_map(chunks_of);
                chunks.chain([ChatChunk::end(usage)]).map(Ok).collect()
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

/// The answer of a [`ScriptedModel`]: text, a tool call, blocks, an error, or a list of chunks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ScriptedAnswer {
    /// A complete answer.
    Whole {
        /// The blocks of content.
        content: Vec<ContentBlock>,
        /// The token usage.
        usage: Usage,
    },
    /// The items of the stream. A complete answer ends with [`ChatChunk::End`].
    Stream(Vec<Result<ChatChunk, ModelError>>),
}

impl ScriptedAnswer {
    /// Sets the token usage of the answer. Appends a [`ChatChunk::End`] to
    /// [`Stream`](Self::Stream).
    #[must_use]
    pub fn costing(self, cost: Usage) -> Self {
        match self {
            Self::Whole { content, .. } => Self::Whole { content, usage: cost },
            Self::Stream(mut chunks) => {
                chunks.push(Ok(ChatChunk::end(cost)));
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
        // A model answers with text, thoughts and tool calls.
        ContentBlock::Image(_)
        | ContentBlock::Audio(_)
        | ContentBlock::File(_)
        | ContentBlock::ToolResult(_) => Vec::new(),
    }
}
