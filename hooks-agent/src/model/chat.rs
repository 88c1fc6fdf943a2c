//! The interface between an agent and a model.

use std::pin::Pin;

use std::sync::Arc;

use futures::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Messages, ToolUse};
use crate::model::{ModelError, ModelOptions};
use crate::usage::Usage;

/// A chat model with streaming answers.
///
/// A complete stream ends with [`ChatChunk::End`]. A stream that ends without it was cut, and the
/// agent fails with [`ModelError::Cut`] instead of using a partial answer. Dropping the stream
/// cancels the request.
pub trait ChatModel: Send + Sync {
    /// Returns the name of the model.
    fn name(&self) -> &str;

    /// Calls the model. The request starts when the stream is polled.
    fn stream(&self, request: ChatRequest) -> ChatStream;
}

/// The answer of a model, as a stream of chunks.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatChunk, ModelError>> + Send>>;

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The messages, including system messages.
    pub messages: Messages,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// The options of the model.
    pub options: Arc<ModelOptions>,
}

impl ChatRequest {
    /// Returns the text of the last message, or an empty text if there is none.
    #[must_use]
    pub fn last_text(&self) -> String {
        self.messages.last().map(|msg| msg.text()).unwrap_or_default()
    }
}

/// The description of a tool, as sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name of the tool.
    pub name: String,
    /// The description, which the model reads.
    pub description: String,
    /// The JSON schema of the arguments.
    pub schema: Value,
}

/// A chunk of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChatChunk {
    /// Text.
    Text(String),
    /// Thoughts.
    Thinking(String),
    /// The signature of the thoughts since the last signature; it ends them.
    Signature(String),
    /// Complete thoughts that only the provider can read.
    RedactedThinking(String),
    /// A complete tool call.
    ToolUse(ToolUse),
    /// The end of an answer.
    End {
        /// The token usage of the answer.
        usage: Usage,
        /// Why the model ended its answer.
        finish: FinishReason,
    },
}

impl ChatChunk {
    /// Creates the end of a complete answer.
    #[must_use]
    pub const fn end(usage: Usage) -> Self {
        Self::End { usage, finish: FinishReason::Stop }
    }
}

/// Why a model ended its answer, as the provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete, or it reached a stop sequence.
    #[default]
    Stop,
    /// The answer reached the limit of tokens.
    Length,
    /// The answer is complete and calls tools.
    ToolCalls,
    /// The provider's content filter cut the answer.
    ContentFilter,
    /// Another reason, or none that the provider reports.
    Other,
}

impl FinishReason {
    /// Returns whether the answer was cut: its text may end in the middle, and its tool calls do
    /// not run.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::Length | Self::ContentFilter)
    }
}
