//! Models behind HTTP APIs, through the crate `genai`.
//!
//! Always the streaming endpoint: a malformed tool argument would fail a whole answer of the
//! other one, with an error that prints the request. Errors of the crate are never passed on:
//! their texts can hold the prompt or the key.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt, TryStreamExt, stream};
use genai::adapter::AdapterKind;
use genai::chat::{self, ChatOptions, ChatStreamEvent, ContentPart, MessageContent, StreamEnd};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::message::{ContentBlock, Msg, Role, ToolUse};
use crate::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError};
use crate::usage::Usage;

/// A model behind an HTTP API.
///
/// ```no_run
/// use hooks_agent::{GenAiModel, ReActAgent};
///
/// let key = std::env::var("OPENAI_API_KEY")?;
/// let model = GenAiModel::openai_compatible("https://api.openai.com/v1/", key, "gpt-5-mini");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GenAiModel {
    connection: Arc<Connection>,
}

struct Connection {
    model: String,
    endpoint: String,
    key: String,
}

impl GenAiModel {
    /// A model behind an API of the shape of `OpenAI`'s chat completions.
    ///
    /// `url` is what stands before `chat/completions`. Nothing is sent yet; a URL that cannot be
    /// right is an error of the first call.
    #[must_use]
    pub fn openai_compatible(
        url: impl Into<String>,
        key: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        let mut endpoint = url.into();
        if !endpoint.ends_with('/') {
            endpoint.push('/');
        }
        let connection = Connection { model: model.into(), endpoint, key: key.into() };
        Self { connection: Arc::new(connection) }
    }
}

impl fmt::Debug for GenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Connection { model, endpoint, key: _ } = &*self.connection;
        f.debug_struct("GenAiModel")
            .field("model", model)
            .field("endpoint", endpoint)
            .finish_non_exhaustive()
    }
}

impl ChatModel for GenAiModel {
    fn name(&self) -> &str {
        &self.connection.model
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let connection = self.connection.clone();
        Box::pin(stream::once(connection.open(request)).try_flatten())
    }
}

impl Connection {
    async fn open(
        self: Arc<Self>,
        request: ChatRequest,
    ) -> Result<impl Stream<Item = Result<ChatChunk, ModelError>>, ModelError> {
        let client = self.client()?;
        // A name alone would choose the provider by guessing, at worst one on this machine.
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::from_single(self.key.as_str()),
            model: ModelIden::new(AdapterKind::OpenAI, self.model.as_str()),
        };
        let options = ChatOptions::default().with_capture_usage(true).with_capture_tool_calls(true);
        let response = client.exec_chat_stream(target, wire_request(request), Some(&options));
        let response = response.await.map_err(|error| self.explain(&error))?;
        let events = response.stream.flat_map(move |event| {
            stream::iter(match event {
                Ok(event) => chunks_of(event).into_iter().map(Ok).collect(),
                Err(error) => vec![Err(self.explain(&error))],
            })
        });
        Ok(events)
    }

    fn client(&self) -> Result<Client, ModelError> {
        let url = Url::parse(&self.endpoint).map_err(|error| self.unreachable(&error))?;
        let mut builder = reqwest::Client::builder();
        if url.scheme() == "http" && url.host_str().is_some_and(is_loopback) {
            // A server on this machine needs no proxy, nor certificates, which may be missing.
            builder = builder.no_proxy().tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| self.unreachable(&error))?;
        Client::builder().with_reqwest(http).build().map_err(|error| self.explain(&error))
    }

    /// The error without what it may quote.
    fn explain(&self, error: &genai::Error) -> ModelError {
        let model = self.model.clone();
        if let Some(status) = error.status() {
            let retry_after = error.headers().and_then(retry_after);
            return ModelError::Status { model, status: status.as_u16(), retry_after };
        }
        match error {
            genai::Error::WebStream { error, .. } => {
                if let Some(error) = error.downcast_ref::<genai::Error>() {
                    return self.explain(error);
                }
                match error.downcast_ref::<reqwest::Error>() {
                    Some(error) if error.is_body() || error.is_decode() => {
                        ModelError::Cut { model }
                    }
                    Some(error) => self.unreachable(root(error)),
                    None => self.failed("the stream broke"),
                }
            }
            genai::Error::WebModelCall { .. } | genai::Error::ClientBuildFail { .. } => {
                self.failed("the request could not be sent")
            }
            genai::Error::ChatResponse { .. } => {
                self.failed("the provider reported an error in its stream")
            }
            genai::Error::StreamParse { .. } => self.failed("the stream is not the JSON expected"),
            _ => self.failed("the request or the answer does not fit the provider's API"),
        }
    }

    fn unreachable(&self, reason: &(dyn Error + 'static)) -> ModelError {
        ModelError::Unreachable {
            model: self.model.clone(),
            endpoint: self.endpoint.clone(),
            reason: reason.to_string(),
        }
    }

    fn failed(&self, reason: &str) -> ModelError {
        ModelError::Failed { model: self.model.clone(), reason: reason.to_owned() }
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The innermost cause, which says what happened and quotes no URL.
fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root
}

/// Seconds only: a date would need a clock that agrees with the provider's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(reqwest::header::RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

fn wire_request(request: ChatRequest) -> chat::ChatRequest {
    let messages =
        request.messages.into_iter().map(|msg| wire_message(Arc::unwrap_or_clone(msg))).collect();
    let tools = request.tools.iter().map(|tool| {
        chat::Tool::new(tool.name.as_str())
            .with_description(tool.description.as_str())
            .with_schema(tool.schema.clone())
    });
    chat::ChatRequest::new(messages).with_tools(tools)
}

fn wire_message(msg: Msg) -> chat::ChatMessage {
    let role = msg.role;
    let parts: Vec<_> = msg.content.into_iter().filter_map(wire_part).collect();
    let content = MessageContent::from_parts(parts);
    match role {
        Role::System => chat::ChatMessage::system(content),
        Role::User => chat::ChatMessage::user(content),
        Role::Assistant => chat::ChatMessage::assistant(content),
        Role::Tool => chat::ChatMessage::tool(content),
    }
}

/// Thoughts are not sent back: they are the provider's own and cannot be forged.
fn wire_part(block: ContentBlock) -> Option<ContentPart> {
    match block {
        ContentBlock::Text { text } => Some(ContentPart::Text(text)),
        ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => None,
        ContentBlock::ToolUse(call) => Some(ContentPart::ToolCall(chat::ToolCall {
            call_id: call.id,
            fn_name: call.name,
            fn_arguments: call.input,
            thought_signatures: None,
        })),
        ContentBlock::ToolResult(result) => {
            let prefix = if result.is_error { "Error: " } else { "" };
            let output = format!("{prefix}{}", result.output);
            let response = chat::ToolResponse::new(result.id, output).with_fn_name(result.name);
            Some(ContentPart::ToolResponse(response))
        }
    }
}

fn chunks_of(event: ChatStreamEvent) -> Vec<ChatChunk> {
    match event {
        ChatStreamEvent::Chunk(chunk) => vec![ChatChunk::Text(chunk.content)],
        ChatStreamEvent::ReasoningChunk(chunk) => vec![ChatChunk::Thinking(chunk.content)],
        ChatStreamEvent::End(end) => end_chunks(end),
        // The pieces of tool calls come whole with the end.
        _ => Vec::new(),
    }
}

fn end_chunks(end: StreamEnd) -> Vec<ChatChunk> {
    let usage = end.captured_usage.unwrap_or_default();
    let tokens = |count: Option<i32>| count.and_then(|count| count.try_into().ok()).unwrap_or(0);
    let usage = Usage {
        input_tokens: tokens(usage.prompt_tokens),
        output_tokens: tokens(usage.completion_tokens),
    };
    let calls = end.captured_content.map(MessageContent::into_tool_calls).unwrap_or_default();
    let calls = calls.into_iter().map(|call| ChatChunk::ToolUse(tool_use(call)));
    calls.chain([ChatChunk::End(usage)]).collect()
}

/// Arguments that are no object did not parse, or are not what a tool takes.
fn tool_use(call: chat::ToolCall) -> ToolUse {
    match call.fn_arguments {
        Value::Object(_) => ToolUse::new(call.call_id, call.fn_name, call.fn_arguments),
        Value::String(text) if text.trim().is_empty() => {
            ToolUse::new(call.call_id, call.fn_name, Value::Object(serde_json::Map::new()))
        }
        Value::String(text) => ToolUse::invalid(call.call_id, call.fn_name, text),
        other => ToolUse::invalid(call.call_id, call.fn_name, other.to_string()),
    }
}
