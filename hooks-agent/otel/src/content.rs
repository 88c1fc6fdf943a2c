//! Messages, tools, arguments and results as JSON texts of the conventions.

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolUse};
use hooks_agent_core::model::ToolSpec;
use serde_json::{Value, json};

/// What stands at the end of a text that was cut.
const CUT: &str = "…";

/// How much longer than its texts a value may be, as a multiple and in bytes.
const STRUCTURE: (usize, usize) = (2, 256);

/// How many bytes of text may still be written. Structure around texts that are cut does not count.
struct Budget(usize);

/// Writes the system messages of a request. `None` if there are none.
pub(super) fn system<'a>(
    messages: impl IntoIterator<Item = &'a Msg>,
    limit: usize,
) -> Option<String> {
    let mut budget = Budget(limit);
    let system = messages.into_iter().filter(|msg| msg.role == Role::System);
    let parts: Vec<_> = system.flat_map(|msg| budget.parts(msg)).collect();
    (!parts.is_empty()).then(|| Value::Array(parts).to_string())
}

/// Writes the other messages of a request, the newest as far as the limit allows.
pub(super) fn input<'a>(
    messages: impl DoubleEndedIterator<Item = &'a Msg>,
    limit: usize,
) -> String {
    let mut budget = Budget(limit);
    let others = messages.rev().filter(|msg| msg.role != Role::System);
    let mut written: Vec<_> =
        others.map(|msg| json!({ "role": role(msg.role), "parts": budget.parts(msg) })).collect();
    written.reverse();
    Value::Array(written).to_string()
}

/// Writes an answer.
pub(super) fn output(msg: &Msg, finish: &str, limit: usize) -> String {
    let parts = Budget(limit).parts(msg);
    json!([{ "role": role(msg.role), "parts": parts, "finish_reason": finish }]).to_string()
}

/// Writes the tools of a request. `None` if there are none.
pub(super) fn tools(tools: &[ToolSpec], limit: usize) -> Option<String> {
    let mut budget = Budget(limit);
    let written = tools.iter().map(|tool| {
        let (name, description) = (&tool.name, budget.text(&tool.description));
        let parameters = budget.value(&tool.schema);
        json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
        })
    });
    (!tools.is_empty()).then(|| Value::Array(written.collect()).to_string())
}

/// Writes the arguments of a tool call.
pub(super) fn arguments(call: &ToolUse, limit: usize) -> String {
    Budget(limit).arguments(call).to_string()
}

/// Writes the text of a result, as JSON if it is JSON. Only what the model reads is written: hooks that
/// redact may leave numbers in the structured form.
pub(super) fn result(text: &str, limit: usize) -> String {
    Budget(limit).json(text).to_string()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

impl Budget {
    /// Writes the blocks of a message. Of media there is the kind only; signatures and thoughts that
    /// only the provider can read are left out.
    fn parts(&mut self, msg: &Msg) -> Vec<Value> {
        let parts = msg.content.iter().filter_map(|block| {
            Some(match block {
                ContentBlock::Text { text } => {
                    json!({ "type": "text", "content": self.text(text) })
                }
                ContentBlock::Thinking { thinking, .. } => {
                    json!({ "type": "reasoning", "content": self.text(thinking) })
                }
                ContentBlock::ToolUse(call) => json!({
                    "type": "tool_call",
                    "id": call.id,
                    "name": call.name,
                    "arguments": self.arguments(call),
                }),
                ContentBlock::ToolResult(result) => json!({
                    "type": "tool_call_response",
                    "id": result.id,
                    "response": self.json(result.output.as_str()),
                }),
                ContentBlock::RedactedThinking { .. } => return None,
                media => json!({ "type": media.kind_name() }),
            })
        });
        parts.collect()
    }

    fn arguments(&mut self, call: &ToolUse) -> Value {
        match &call.invalid_input {
            Some(written) => self.text(written).into(),
            None => self.value(&call.input),
        }
    }

    fn json(&mut self, text: &str) -> Value {
        match serde_json::from_str(text) {
            Ok(value) => self.value(&value),
            Err(_) => self.text(text).into(),
        }
    }

    /// Copies a value, with its texts cut. One that is long for other reasons becomes a text.
    fn value(&mut self, value: &Value) -> Value {
        let (text, limit) = (value.to_string(), self.0);
        if text.len() <= limit {
            self.0 -= text.len();
            return value.clone();
        }
        let cut = self.texts(value);
        let (times, more) = STRUCTURE;
        if cut.to_string().len() <= limit.saturating_mul(times).saturating_add(more) {
            return cut;
        }
        self.0 = 0;
        Self(limit).text(&text).into()
    }

    fn texts(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(values) => values.iter().map(|value| self.texts(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.texts(value))).collect()
            }
            value => value.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        if text.len() <= self.0 {
            self.0 -= text.len();
            return text.to_owned();
        }
        let end = text.floor_char_boundary(self.0);
        self.0 = 0;
        format!("{}{CUT}", &text[..end])
    }
}
