//! JSON of a text, a message or a tool call without its content: names and sizes.

use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, PendingCall, Role, ToolResult, ToolUse, Usage,
};
use serde::Serialize;
use serde_json::Value;

/// A message without its content.
#[derive(Serialize)]
pub(crate) struct Message<'a> {
    hidden: bool,
    role: &'a Role,
    chars: usize,
    tools: Vec<Name<'a>>,
    reason: Option<&'a GenerateReason>,
    usage: Option<Usage>,
}

#[derive(Serialize)]
pub(crate) struct Input<'a> {
    hidden: bool,
    messages: Vec<Message<'a>>,
}

/// A block of an answer without its content.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Block<'a> {
    Call {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(flatten)]
        call: Call<'a>,
    },
    Result {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(flatten)]
        result: CallResult<'a>,
    },
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        hidden: bool,
        chars: usize,
    },
}

#[derive(Serialize)]
pub(crate) struct Call<'a> {
    hidden: bool,
    id: &'a str,
    name: &'a str,
    chars: usize,
}

#[derive(Serialize)]
pub(crate) struct CallResult<'a> {
    hidden: bool,
    id: &'a str,
    name: &'a str,
    is_error: bool,
    chars: usize,
}

#[derive(Serialize)]
pub(crate) struct Progress<'a> {
    hidden: bool,
    call: Name<'a>,
    chars: usize,
}

#[derive(Serialize)]
pub(crate) struct Pending<'a> {
    hidden: bool,
    id: &'a str,
    call: Name<'a>,
    agents: &'a [String],
    asked_by: Option<&'a str>,
}

#[derive(Serialize)]
struct Name<'a> {
    id: &'a str,
    name: &'a str,
}

pub(crate) fn message(msg: &Msg) -> Message<'_> {
    Message {
        hidden: true,
        role: &msg.role,
        chars: msg.content.iter().map(block_chars).sum(),
        tools: msg.tool_uses().map(name_of).collect(),
        reason: msg.reason.as_ref(),
        usage: msg.usage,
    }
}

pub(crate) fn messages(messages: &Messages) -> Input<'_> {
    Input { hidden: true, messages: messages.iter().map(message).collect() }
}

pub(crate) fn block(block: &ContentBlock) -> Block<'_> {
    let kind = block.kind_name();
    match block {
        ContentBlock::ToolUse(call) => Block::Call { kind, call: tool_use(call) },
        ContentBlock::ToolResult(result) => Block::Result { kind, result: tool_result(result) },
        _ => Block::Text { kind, hidden: true, chars: block_chars(block) },
    }
}

pub(crate) fn tool_use(call: &ToolUse) -> Call<'_> {
    Call { hidden: true, id: &call.id, name: &call.name, chars: json_chars(&call.input) }
}

pub(crate) fn tool_chunk<'a>(call: &'a ToolUse, text: &str) -> Progress<'a> {
    Progress { hidden: true, call: name_of(call), chars: text.chars().count() }
}

pub(crate) fn tool_result(result: &ToolResult) -> CallResult<'_> {
    CallResult {
        hidden: true,
        id: &result.id,
        name: &result.name,
        is_error: result.is_error,
        chars: result.output.as_str().chars().count(),
    }
}

pub(crate) fn pending(pending: &PendingCall) -> Pending<'_> {
    let PendingCall { id, call, agents, asked_by, .. } = pending;
    Pending { hidden: true, id, call: name_of(call), agents, asked_by: asked_by.as_deref() }
}

fn name_of(call: &ToolUse) -> Name<'_> {
    Name { id: &call.id, name: &call.name }
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
