//! JSON of a text, a message or a tool call without its content: names and sizes.

use hooks_agent_core::message::{ContentBlock, Messages, Msg, PendingCall, ToolResult, ToolUse};
use serde_json::{Value, json};

/// The JSON of a message without its content.
pub(crate) fn message(msg: &Msg) -> Value {
    let chars: usize = msg.content.iter().map(block_chars).sum();
    let tools: Vec<_> = msg.tool_uses().map(name_of).collect();
    json!({
        "hidden": true,
        "role": msg.role,
        "chars": chars,
        "tools": tools,
        "reason": msg.reason,
        "usage": msg.usage,
    })
}

pub(crate) fn messages(messages: &Messages) -> Value {
    let messages: Vec<_> = messages.iter().map(message).collect();
    json!({ "hidden": true, "messages": messages })
}

/// The JSON of a block of an answer without its content.
pub(crate) fn block(block: &ContentBlock) -> Value {
    let kind = block.kind_name();
    match block {
        ContentBlock::ToolUse(call) => with_type(kind, tool_use(call)),
        ContentBlock::ToolResult(result) => with_type(kind, tool_result(result)),
        _ => json!({ "type": kind, "hidden": true, "chars": block_chars(block) }),
    }
}

pub(crate) fn tool_use(call: &ToolUse) -> Value {
    json!({ "hidden": true, "id": call.id, "name": call.name, "chars": json_chars(&call.input) })
}

pub(crate) fn tool_chunk(call: &ToolUse, text: &str) -> Value {
    json!({ "hidden": true, "call": name_of(call), "chars": text.chars().count() })
}

pub(crate) fn tool_result(result: &ToolResult) -> Value {
    json!({
        "hidden": true,
        "id": result.id,
        "name": result.name,
        "is_error": result.is_error,
        "chars": result.output.as_str().chars().count(),
    })
}

pub(crate) fn pending(pending: &PendingCall) -> Value {
    let PendingCall { id, call, agents, asked_by, .. } = pending;
    json!({
        "hidden": true,
        "id": id,
        "call": name_of(call),
        "agents": agents,
        "asked_by": asked_by,
    })
}

fn name_of(call: &ToolUse) -> Value {
    json!({ "id": call.id, "name": call.name })
}

fn with_type(kind: &str, mut value: Value) -> Value {
    value["type"] = kind.into();
    value
}

fn block_chars(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } => text.chars().count(),
        ContentBlock::Thinking { thinking, .. } => thinking.chars().count(),
        ContentBlock::ToolUse(call) => json_chars(&call.input),
        ContentBlock::ToolResult(result) => result.output.as_str().chars().count(),
        _ => 0,
    }
}

/// Returns the length of a value: of a text, its characters, otherwise those of its JSON.
pub(crate) fn json_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        value => value.to_string().chars().count(),
    }
}
