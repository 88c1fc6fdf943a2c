//! One form of each JSON value: sorted keys, and requests without what the model does not get.

use std::fmt;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The SHA-256 of what a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Returns the key of a tool call: of the tool and its arguments.
    pub(crate) fn of_tool(name: &str, input: &Value) -> Self {
        let call = json!({ "name": name, "input": input });
        Self(Sha256::digest(text_of(&call)).into())
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut key = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (index, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        Some(Self(key))
    }
}

/// A key of a text that comes in parts.
#[derive(Clone, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn add(&mut self, part: &str) {
        self.0.update(part);
    }

    pub(crate) fn key(self) -> Key {
        Key(self.0.finalize().into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns a message without the ids of its tool calls and results; `None` if it has none.
pub(crate) fn without_ids(message: &Value) -> Option<Value> {
    let is_call = |block: &Value| {
        matches!(block.get("type").and_then(Value::as_str), Some("tool_use" | "tool_result"))
    };
    if !message.get("content")?.as_array()?.iter().any(is_call) {
        return None;
    }
    let mut message = message.clone();
    let blocks = message.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten().filter(|block| is_call(block)) {
        if let Some(block) = block.as_object_mut() {
            block.remove("id");
            if let Some(ran) = block.get_mut("ran").and_then(Value::as_object_mut) {
                ran.remove("id");
            }
        }
    }
    Some(message)
}

/// Returns a value as JSON with sorted keys.
pub(crate) fn text_of(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    text
}

/// Returns the text of a line, with its end.
pub(crate) fn line_of(value: &Value) -> String {
    let mut line = text_of(value);
    line.push('\n');
    line
}

/// Writes a value with sorted keys and without white space.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_sorted(value, out);
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_sorted(value, out);
            }
            out.push(']');
        }
        Value::String(text) => write_text(text, out),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::Bool(is) => out.push_str(if *is { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
    }
}

fn write_text(text: &str, out: &mut String) {
    let is_plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
    if text.as_bytes().iter().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}
