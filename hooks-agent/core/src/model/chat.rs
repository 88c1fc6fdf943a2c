//! The interface between an agent and a model.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Messages, Msg, ToolUse};
use crate::model::context_window::known_context_window;
use crate::model::error::ModelError;
use crate::model::options::ModelOptions;
use crate::usage::Usage;

/// The name of a provider that is not known.
pub(super) const UNKNOWN_PROVIDER: &str = "unknown";

/// A chat model with streaming answers.
///
/// A complete stream ends with [`ChatChunk::End`]. A stream that ends without it was cut, and the
/// agent fails with [`ModelError::Cut`] instead of using a partial answer. Dropping the stream
/// cancels the request.
pub trait ChatModel: Send + Sync {
    /// Returns the name of the model.
    fn name(&self) -> &str;

    /// Returns the name of the provider, for traces and metrics: such as `openai`, `anthropic`,
    /// `gcp.gemini` or `ollama`, the names of
    /// [OpenTelemetry](https://opentelemetry.io/docs/specs/semconv/gen-ai/). The default is `unknown`.
    fn provider(&self) -> Cow<'static, str> {
        UNKNOWN_PROVIDER.into()
    }

    /// Returns the scheme, the host and the port of the server, for traces: such as
    /// `https://api.example.org`. The default is that there is none.
    fn server(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Returns how many tokens a request and its answer may have together, if it is known. The default
    /// is [`known_context_window`] of the name.
    fn context_window(&self) -> Option<u64> {
        known_context_window(self.name())
    }

    /// Calls the model. The request starts when the stream is polled.
    fn stream(&self, request: ChatRequest) -> ChatStream;
}

/// Forwards to the shared model.
impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        M::name(self)
    }

    fn provider(&self) -> Cow<'static, str> {
        M::provider(self)
    }

    fn server(&self) -> Option<Cow<'_, str>> {
        M::server(self)
    }

    fn context_window(&self) -> Option<u64> {
        M::context_window(self)
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        M::stream(self, request)
    }
}

/// Forwards to the boxed model.
impl<M: ChatModel + ?Sized> ChatModel for Box<M> {
    fn name(&self) -> &str {
        M::name(self)
    }

    fn provider(&self) -> Cow<'static, str> {
        M::provider(self)
    }

    fn server(&self) -> Option<Cow<'_, str>> {
        M::server(self)
    }

    fn context_window(&self) -> Option<u64> {
        M::context_window(self)
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        M::stream(self, request)
    }
}

/// The answer of a model, as a stream of chunks.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatChunk, ModelError>> + Send>>;

/// A request to a model.
///
/// In JSON, `tools` and `options` may be absent.
///
/// ```
/// use hooks_agent::message::Msg;
/// use hooks_agent::model::ChatRequest;
///
/// let request = ChatRequest::new(Msg::user("Hello"));
/// let json = serde_json::to_string(&request)?;
/// assert_eq!(serde_json::from_str::<ChatRequest>(&json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The messages, including system messages.
    pub messages: Messages,
    /// The tools that the model may call.
    #[serde(default)]
    pub tools: Arc<[ToolSpec]>,
    /// The options of the model.
    #[serde(default)]
    pub options: Arc<ModelOptions>,
}

impl ChatRequest {
    /// Creates a request with these messages, without tools and options.
    #[must_use]
    pub fn new(messages: impl Into<Messages>) -> Self {
        Self { messages: messages.into(), ..Self::default() }
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Arc<[ToolSpec]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets the options of the model.
    #[must_use]
    pub fn options(mut self, options: impl Into<Arc<ModelOptions>>) -> Self {
        self.options = options.into();
        self
    }

    /// Returns the text of the last message, or an empty text if there is none.
    #[must_use]
    pub fn last_text(&self) -> String {
        self.messages.last().map(Msg::text).unwrap_or_default()
    }
}

/// The description of a tool, as sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name of the tool.
    pub name: String,
    /// The description, which the model reads.
    pub description: String,
    /// The JSON schema of the arguments.
    pub schema: Value,
}

impl ToolSpec {
    /// Creates the description of a tool.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), description: description.into(), schema }
    }
}

/// A chunk of an answer.
///
/// In JSON, `type` is the variant in snake case and `data` what it carries:
///
/// | `type` | `data` |
/// |---|---|
/// | `text`, `thinking`, `signature`, `redacted_thinking` | a text |
/// | `tool_use` | a [tool call](crate::message::ToolUse) |
/// | `end` | `{"usage": {"input_tokens": .., "output_tokens": ..}, "finish": ".."}` |
///
/// ```
/// use hooks_agent::message::Usage;
/// use hooks_agent::model::ChatChunk;
/// use serde_json::json;
///
/// let chunk = ChatChunk::Text("Hel".to_owned());
/// assert_eq!(serde_json::to_value(&chunk)?, json!({ "type": "text", "data": "Hel" }));
/// assert_eq!(
///     serde_json::to_value(ChatChunk::end(Usage::new(12, 3)))?,
///     json!({
///         "type": "end",
///         "data": { "usage": { "input_tokens": 12, "output_tokens": 3 }, "finish": "stop" },
///     }),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
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

    /// Returns whether the chunk has no content. The end of an answer and a tool call are not empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text)
            | Self::Thinking(text)
            | Self::Signature(text)
            | Self::RedactedThinking(text) => text.is_empty(),
            Self::ToolUse(_) | Self::End { .. } => false,
        }
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
