//! The answer of a model.

use hooks_agent_core::message::{ToolUse, Usage};
use hooks_agent_core::model::{ChatChunk, FinishReason};

use serde_json::{Map, Value, json};

use crate::context::Path;

/// What is read of an answer.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) calls: Vec<ToolUse>,
    pub(crate) usage: Usage,
    /// About how many bytes it has.
    pub(crate) bytes: usize,
    /// Whether the last chunk was text.
    in_text: bool,
}

impl Answer {
    /// Adds a chunk.
    pub(crate) fn add(&mut self, chunk: &ChatChunk) {
        let was_in_text = std::mem::replace(&mut self.in_text, matches!(chunk, ChatChunk::Text(_)));
        match chunk {
            ChatChunk::Text(more) => {
                // As the message has it: texts that something else parts are lines.
                if !was_in_text && !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(more);
                self.bytes += more.len();
            }
            ChatChunk::Thinking(more) => {
                self.thinking.push_str(more);
                self.bytes += more.len();
            }
            ChatChunk::Signature(data) | ChatChunk::RedactedThinking(data) => {
                self.bytes += data.len();
            }
            ChatChunk::ToolUse(call) => {
                self.bytes += call.name.len() + call.id.len() + call.input.to_string().len();
                self.calls.push(call.clone());
            }
            ChatChunk::End { usage, .. } => self.usage = *usage,
            _ => {}
        }
    }

    /// Sets whether text that comes goes on with the text before it.
    pub(crate) fn set_in_text(&mut self, is_in_text: bool) {
        self.in_text = is_in_text;
    }

    /// Returns the `response` of the answer up to here.
    pub(crate) fn response(&self, finish: &str) -> Value {
        let content = if self.text.is_empty() { Value::Null } else { json!(self.text) };
        let calls: Vec<_> = self.calls.iter().map(call_of).collect();
        json!({ "content": content, "tool_calls": calls, "finish_reason": finish })
    }

    /// Returns the chunks of a changed response, without the thoughts, which may have what was removed; `None` if it
    /// was not changed.
    pub(crate) fn back(
        &self,
        response: &Value,
        finish: FinishReason,
    ) -> Result<Option<Vec<ChatChunk>>, Path> {
        if *response == self.response(finish_name(finish)) {
            return Ok(None);
        }
        if response.as_object().is_none_or(|fields| fields.len() != 3) {
            return Err("response");
        }
        let mut chunks = Vec::new();
        match &response["content"] {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => chunks.push(ChatChunk::Text(text.clone())),
            _ => return Err("response.content"),
        }
        for call in response["tool_calls"].as_array().ok_or("response.tool_calls")? {
            chunks.push(ChatChunk::ToolUse(self.call_back(call)?));
        }
        let finish = response["finish_reason"].as_str().and_then(finish_back);
        let finish = finish.ok_or("response.finish_reason")?;
        chunks.push(ChatChunk::End { usage: self.usage, finish });
        Ok(Some(chunks))
    }

    fn call_back(&self, call: &Value) -> Result<ToolUse, Path> {
        let known = self.calls.iter().find(|known| call_of(known) == *call);
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let (Some(id), Some(name)) = (call["id"].as_str(), call["name"].as_str()) else {
            return Err("response.tool_calls[..]");
        };
        let is_whole = call.as_object().is_some_and(|fields| fields.len() == 3);
        if !call["args"].is_object() || !is_whole {
            return Err("response.tool_calls[..].args");
        }
        Ok(ToolUse::new(id, name, call["args"].clone()))
    }
}

fn call_of(call: &ToolUse) -> Value {
    let args = match (&call.invalid_input, &call.input) {
        (Some(written), _) => json!({ "invalid_input": written }),
        (None, Value::Null) => Value::Object(Map::new()),
        (None, args) => args.clone(),
    };
    json!({ "id": call.id, "name": call.name, "args": args })
}

/// Returns the name of a reason why an answer ended.
pub(crate) fn finish_name(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
        _ => "other",
    }
}

fn finish_back(name: &str) -> Option<FinishReason> {
    match name {
        "stop" => Some(FinishReason::Stop),
        "length" => Some(FinishReason::Length),
        "tool_calls" => Some(FinishReason::ToolCalls),
        "content_filter" => Some(FinishReason::ContentFilter),
        "other" => Some(FinishReason::Other),
        _ => None,
    }
}
