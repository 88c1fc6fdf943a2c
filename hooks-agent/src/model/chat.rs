//! The contract between an agent and a model.

use std::pin::Pin;

use std::sync::Arc;

use futures::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Messages, ToolUse};
use crate::model::{ModelError, ModelOptions};
use crate::usage::Usage;

/// A chat model that streams.
///
/// A complete stream ends with [`ChatChunk::End`]; one that ends without it was cut, and the
/// agent fails with [`ModelError::Cut`] instead of taking half an answer for a whole one.
/// Dropping the stream cancels the request.
pub trait ChatModel: Send + Sync {
    /// The model's name.
    fn name(&self) -> &str;

    /// Asks the model. The request starts when the stream is polled.
    fn stream(&self, request: ChatRequest) -> ChatStream;
}

/// The answer of a model, piece by piece.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatChunk, ModelError>> + Send>>;

/// What a model is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The conversation, system messages included.
    pub messages: Messages,
    /// The tools that the model may ask for.
    pub tools: Arc<[ToolSpec]>,
    /// How it is to answer.
    pub options: Arc<ModelOptions>,
}

impl ChatRequest {
    /// The text of the last message, empty where there is none.
    #[must_use]
    pub fn last_text(&self) -> String {
        self.messages.last().map(|msg| msg.text()).unwrap_or_default()
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChatChunk {
    /// More text.
    Text(String),
    /// More thoughts.
    Thinking(String),
    /// What proves that the thoughts since the last signature are the model's; they end with it.
    Signature(String),
    /// Thoughts, whole, that only the provider can read.
    RedactedThinking(String),
    /// A tool call, whole.
    ToolUse(ToolUse),
    /// The answer is complete.
    End(Usage),
}
