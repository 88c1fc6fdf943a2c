//! Converts the events of the crate into chunks of an answer.

use std::collections::HashSet;
use std::string::FromUtf8Error;
use std::sync::Arc;

use futures::channel::mpsc::UnboundedReceiver;
use genai::chat::{self, ChatStreamEvent, MessageContent, StopReason, StreamEnd};
use hooks_agent_core::model::{ChatChunk, FinishReason, ModelError};
use serde_json::{Map, Value};

use crate::genai::connection::Connection;
use crate::genai::mark::Mark;
use crate::genai::provider::Provider;
use hooks_agent_core::message::{Messages, ToolUse, Usage};

type Piece = Result<ChatChunk, ModelError>;

/// A streaming answer.
pub(super) struct Answer {
    connection: Arc<Connection>,
    marks: UnboundedReceiver<Mark>,
    /// The messages of the request, which an error must not quote.
    asked: Messages,
    /// The signature of the latest thoughts, as far as received.
    signature: String,
    /// Whether an event of the API arrived.
    has_events: bool,
}

impl Answer {
    pub(super) fn new(
        connection: Arc<Connection>,
        marks: UnboundedReceiver<Mark>,
        asked: Messages,
    ) -> Self {
        Self { connection, marks, asked, signature: String::new(), has_events: false }
    }

    /// Returns the chunks since the previous event, up to this one.
    pub(super) fn pieces_until(&mut self, event: genai::Result<ChatStreamEvent>) -> Vec<Piece> {
        let mut pieces = self.marked();
        match event {
            Ok(event) => {
                let is_own = matches!(event, ChatStreamEvent::Start | ChatStreamEvent::End(_));
                self.has_events |= !is_own;
                pieces.extend(self.read(event));
            }
            Err(error) if !self.has_events && is_foreign(&error) => {
                pieces.push(Err(self.connection.foreign()));
            }
            Err(error) => pieces.push(Err(self.connection.explain(&error, &self.asked))),
        }
        pieces
    }

    /// Returns the chunks since the last event.
    pub(super) fn last_pieces(&mut self) -> Vec<Piece> {
        let mut pieces = self.marked();
        if !self.has_events {
            pieces.push(Err(self.connection.foreign()));
        }
        pieces
    }

    fn marked(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Ok(mark) = self.marks.try_recv() {
            self.has_events = true;
            pieces.extend(match mark {
                Mark::BlockEnd if self.signature.is_empty() => None,
                Mark::BlockEnd => {
                    Some(Ok(ChatChunk::Signature(std::mem::take(&mut self.signature))))
                }
                Mark::Event => None,
                Mark::Redacted(data) => Some(Ok(ChatChunk::RedactedThinking(data))),
                Mark::Blocked(reason) => Some(Err(self.connection.blocked(&reason))),
                Mark::Error(report) => Some(Err(self.connection.reported(&report, &self.asked))),
            });
        }
        pieces
    }

    fn read(&mut self, event: ChatStreamEvent) -> Vec<Piece> {
        match event {
            ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
                vec![Ok(ChatChunk::Text(chunk.content))]
            }
            ChatStreamEvent::ReasoningChunk(chunk) if !chunk.content.is_empty() => {
                vec![Ok(ChatChunk::Thinking(chunk.content))]
            }
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => {
                self.signature.push_str(&chunk.content);
                Vec::new()
            }
            ChatStreamEvent::End(end) if self.connection.provider.is_cut(&end) => {
                let is_cut = self.has_events;
                vec![Err(if is_cut { self.connection.cut() } else { self.connection.foreign() })]
            }
            ChatStreamEvent::End(end) => end_pieces(self.connection.provider, end),
            // The end event has the complete tool calls.
            _ => Vec::new(),
        }
    }
}

/// Returns whether an error says that the body is neither JSON nor text.
fn is_foreign(error: &genai::Error) -> bool {
    match error {
        genai::Error::StreamParse { .. } => true,
        genai::Error::WebStream { error, .. } => error.is::<FromUtf8Error>(),
        _ => false,
    }
}

fn end_pieces(provider: Provider, end: StreamEnd) -> Vec<Piece> {
    let usage = usage(end.captured_usage.unwrap_or_default());
    let finish = end.captured_stop_reason.as_ref().map_or(FinishReason::Other, finish);
    let calls = end.captured_content.map(MessageContent::into_tool_calls).unwrap_or_default();
    let calls = distinct(provider, calls).into_iter().map(|call| tool_use(provider, call));
    let mut calls: Vec<_> = calls.collect();
    if let Some(last) = calls.last_mut().filter(|_| finish.is_cut()) {
        leave_open(last);
    }
    let end = ChatChunk::End { usage, finish };
    calls.into_iter().map(ChatChunk::ToolUse).chain([end]).map(Ok).collect()
}

/// Arguments that were cut before their first character look like none at all.
fn leave_open(call: &mut ToolUse) {
    let is_empty = call.input.as_object().is_some_and(Map::is_empty);
    if is_empty && call.invalid_input.is_none() {
        call.invalid_input = Some(String::new());
    }
}

/// If an answer has only thoughts, Gemini omits their tokens from those of the answer.
fn usage(usage: chat::Usage) -> Usage {
    let thoughts = usage.completion_tokens_details.and_then(|details| details.reasoning_tokens);
    let tokens = |count: Option<i32>| count.and_then(|count| count.try_into().ok()).unwrap_or(0);
    let of_cache = usage.prompt_tokens_details.unwrap_or_default();
    Usage::new(tokens(usage.prompt_tokens), tokens(usage.completion_tokens.or(thoughts)))
        .cached(tokens(of_cache.cached_tokens), tokens(of_cache.cache_creation_tokens))
}

/// Converts the reason. The crate knows the words of the four providers but a few of those that
/// servers compatible with `OpenAI`'s have.
fn finish(reason: &StopReason) -> FinishReason {
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => FinishReason::Stop,
        StopReason::MaxTokens(_) => FinishReason::Length,
        StopReason::ToolCall(_) => FinishReason::ToolCalls,
        StopReason::ContentFilter(_) => FinishReason::ContentFilter,
        StopReason::Other(word) => match word.as_str() {
            "eos" | "eos_token" => FinishReason::Stop,
            "max_output_tokens" => FinishReason::Length,
            "sensitive" | "MODEL_ARMOR" => FinishReason::ContentFilter,
            _ => FinishReason::Other,
        },
    }
}

/// Returns each tool call once, each with a unique id.
fn distinct(provider: Provider, mut calls: Vec<chat::ToolCall>) -> Vec<chat::ToolCall> {
    match provider {
        // If tool calls are numbered from 1, a copy of the start of one is left at 0.
        Provider::OpenAi => {
            let mut ids = HashSet::new();
            calls.reverse();
            calls.retain(|call| call.call_id.is_empty() || ids.insert(call.call_id.clone()));
            calls.reverse();
        }
        // The crate numbers tool calls without an id from the start in each chunk. An id of this
        // form is not sent back.
        Provider::Gemini => {
            for (index, call) in calls.iter_mut().enumerate() {
                if call.call_id.starts_with("call#") {
                    call.call_id = format!("call#{}#{index}", call.fn_name);
                }
            }
        }
        Provider::Anthropic | Provider::Ollama => {}
    }
    calls
}

/// Arguments that are not an object are invalid; missing arguments are an empty object.
fn tool_use(provider: Provider, call: chat::ToolCall) -> ToolUse {
    let chat::ToolCall { call_id, fn_name, fn_arguments, thought_signatures } = call;
    let signature = thought_signatures.and_then(|signatures| signatures.into_iter().next());
    let mut tool_use = match fn_arguments {
        Value::Object(_) => ToolUse::new(call_id, fn_name, fn_arguments),
        Value::Null => ToolUse::new(call_id, fn_name, Value::Object(Map::new())),
        Value::String(text) if text.trim().is_empty() => {
            ToolUse::new(call_id, fn_name, Value::Object(Map::new()))
        }
        Value::String(text) => ToolUse::invalid(call_id, fn_name, text),
        other => ToolUse::invalid(call_id, fn_name, other.to_string()),
    };
    // Anthropic's signatures belong to thoughts; a tool call has a copy of them.
    tool_use.signature = signature.filter(|_| provider == Provider::Gemini);
    tool_use
}
