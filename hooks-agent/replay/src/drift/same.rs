//! Differences that mean nothing: white space, the order of keys, ids, the order of tool calls.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::format::without_ids;

/// The number of a placeholder depends on what else a thread has.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<([a-z0-9_-]+):[0-9]{1,6}>").expect("the pattern is tested"));

/// The places of ids of tool calls, without the numbers of lists: what else is called `id` is a value.
const IDS: [&str; 7] = [
    "id",
    "content.id",
    "content.ran.id",
    "messages.content.id",
    "messages.content.ran.id",
    "pending.call.id",
    "pending.id",
];

/// Returns whether a place is that of the id of a tool call.
pub(crate) fn is_id(path: &str) -> bool {
    let fields = path.split('.').map(|field| field.split('[').next().unwrap_or(field));
    IDS.contains(&fields.collect::<Vec<_>>().join(".").as_str())
}

/// Returns whether two values differ in white space, the order of keys in JSON, and ids of tool calls
/// alone.
pub(crate) fn is_cosmetic(recorded: &Value, now: &Value) -> bool {
    let (recorded, now) = (without_call_ids(recorded), without_call_ids(now));
    plain(&recorded, 0) == plain(&now, 0)
}

/// Returns a request or a message without the ids of its tool calls and their results.
fn without_call_ids(value: &Value) -> Value {
    let mut value = value.clone();
    let messages = match value.get_mut("messages") {
        Some(Value::Array(messages)) => messages.as_mut_slice(),
        _ => std::slice::from_mut(&mut value),
    };
    for message in messages {
        if let Some(plain) = without_ids(message) {
            *message = plain;
        }
    }
    value
}

/// How deep texts that hold JSON are read as JSON.
const DEPTH: u8 = 4;

fn plain(value: &Value, depth: u8) -> Value {
    match value {
        Value::String(text) => {
            let trimmed = text.trim_start();
            if depth < DEPTH
                && trimmed.starts_with(['{', '['])
                && let Ok(json) = serde_json::from_str::<Value>(text)
            {
                return plain(&json, depth + 1);
            }
            let text = NUMBER.replace_all(text, "<$1>");
            Value::String(text.split_whitespace().collect::<Vec<_>>().join(" "))
        }
        Value::Array(values) => values.iter().map(|value| plain(value, depth)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), plain(value, depth))).collect()
        }
        other => other.clone(),
    }
}

/// Returns whether two requests differ in the order of tool calls and their results alone.
pub(crate) fn is_reordered(recorded: &Value, now: &Value) -> bool {
    in_order(recorded) == in_order(now)
}

/// Returns a request whose tool calls in a message, and messages of tools in a row, are sorted.
fn in_order(request: &Value) -> Value {
    let mut request = request.clone();
    let Some(messages) = request.get_mut("messages").and_then(Value::as_array_mut) else {
        return request;
    };
    for content in messages.iter_mut().filter_map(|msg| msg.get_mut("content")) {
        if let Some(blocks) = content.as_array_mut() {
            sort_runs(blocks, |block| block["type"] == "tool_use");
        }
    }
    sort_runs(messages, |msg| msg["role"] == "tool");
    request
}

fn sort_runs(values: &mut [Value], is_sorted: impl Fn(&Value) -> bool) {
    for run in values.chunk_by_mut(|one, other| is_sorted(one) && is_sorted(other)) {
        run.sort_by_cached_key(ToString::to_string);
    }
}
