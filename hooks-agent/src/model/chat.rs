//! The contract between an agent and a model.

use std::pin::Pin;

use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{ContentBlock, Msg, ToolUse};
use crate::model::ModelError;

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
    pub messages: Vec<Msg>,
    /// The tools that the model may ask for.
    pub tools: Vec<ToolSpec>,
}

impl ChatRequest {
    /// The text of the last message, empty where there is none.
    #[must_use]
    pub fn last_text(&self) -> String {
        self.messages.last().map(Msg::text).unwrap_or_default()
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
    /// A tool call, whole.
    ToolUse(ToolUse),
    /// The answer is complete.
    End(Usage),
}

/// How many tokens a call cost, as the provider reports it; zero where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

/// The whole answer of a model: neighbouring pieces of text are one block.
pub(crate) async fn collect(
    model: &str,
    mut stream: ChatStream,
) -> Result<Vec<ContentBlock>, ModelError> {
    let mut content: Vec<ContentBlock> = Vec::new();
    while let Some(chunk) = stream.next().await {
        match chunk? {
            ChatChunk::Text(more) => match content.last_mut() {
                Some(ContentBlock::Text { text }) => text.push_str(&more),
                _ => content.push(ContentBlock::text(more)),
            },
            ChatChunk::Thinking(more) => match content.last_mut() {
                Some(ContentBlock::Thinking { thinking }) => thinking.push_str(&more),
                _ => content.push(ContentBlock::Thinking { thinking: more }),
            },
            ChatChunk::ToolUse(call) => content.push(ContentBlock::ToolUse(call)),
            ChatChunk::End(_) => return Ok(content),
        }
    }
    Err(ModelError::Cut { model: model.to_owned() })
}
