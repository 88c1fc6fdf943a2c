//! The texts of an entry.

use hooks_agent_core::message::{ContentBlock, Msg, ToolResult, ToolUse};
use serde::Deserialize;
use serde_json::Value;

use crate::entry::{Label, Packed};

/// Shows a text, and returns whether it is what is looked for.
pub(crate) type Look<'a> = &'a mut dyn FnMut(&str) -> bool;

#[derive(Deserialize)]
struct Input {
    messages: Vec<Msg>,
}

#[derive(Deserialize)]
struct Request {
    system: Option<String>,
}

/// The progress of a tool, or why something failed.
#[derive(Deserialize)]
struct Text {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Pending {
    call: ToolUse,
}

#[derive(Deserialize)]
struct HookRun {
    changed: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    before: Option<Value>,
    after: Option<Value>,
}

/// Shows each text of an entry, until one is what is looked for. Of data whose content is hidden there is none.
pub(crate) fn texts(kind: &str, data: Packed<'_>, look: Look<'_>) -> bool {
    match kind {
        "input" => data.read().is_some_and(|Input { messages }| {
            messages.iter().any(|message| of_message(message, look))
        }),
        "request" => {
            data.read().and_then(|Request { system }| system).is_some_and(|text| look(&text))
        }
        "reasoning_chunk" | "summary_chunk" => {
            data.read().is_some_and(|block: ContentBlock| of_block(&block, look))
        }
        "reasoned" | "summarized" | "finished" => {
            data.read().is_some_and(|message: Msg| of_message(&message, look))
        }
        "tool_started" => data.read().is_some_and(|call: ToolUse| of_call(&call, look)),
        "tool_finished" => data.read().is_some_and(|result: ToolResult| of_result(&result, look)),
        "permission_asked" => data.read().is_some_and(|Pending { call }| of_call(&call, look)),
        "tool_chunk" | "model_failed" | "failed" => {
            data.read().and_then(|Text { text }| text).is_some_and(|text| look(&text))
        }
        Label::HOOK => data.read().is_some_and(|HookRun { changed }| {
            let values =
                changed.iter().flat_map(|change| change.before.iter().chain(&change.after));
            values.into_iter().any(|value| of_value(value, look))
        }),
        _ => false,
    }
}

fn of_message(message: &Msg, look: Look<'_>) -> bool {
    message.content.iter().any(|block| of_block(block, look))
}

fn of_block(block: &ContentBlock, look: Look<'_>) -> bool {
    match block {
        ContentBlock::Text { text } => look(text),
        ContentBlock::Thinking { thinking, .. } => look(thinking),
        ContentBlock::ToolUse(call) => of_call(call, look),
        ContentBlock::ToolResult(result) => of_result(result, look),
        _ => false,
    }
}

fn of_call(call: &ToolUse, look: Look<'_>) -> bool {
    look(&call.name)
        || of_value(&call.input, look)
        || call.invalid_input.as_deref().is_some_and(look)
}

fn of_result(result: &ToolResult, look: Look<'_>) -> bool {
    look(result.output.as_str())
        || result.output.blocks().iter().any(|block| of_block(block, look))
        || result.output.structured().is_some_and(|value| of_value(value, look))
}

fn of_value(value: &Value, look: Look<'_>) -> bool {
    match value {
        Value::String(text) => look(text),
        Value::Array(values) => values.iter().any(|value| of_value(value, look)),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| look(name) || of_value(value, look))
        }
        Value::Number(number) => look(&number.to_string()),
        _ => false,
    }
}
