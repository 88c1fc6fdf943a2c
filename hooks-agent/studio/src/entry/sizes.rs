//! About how many bytes content takes, without looking at each of them.

use hooks_agent_core::message::{ContentBlock, Media, MediaSource, Msg, ToolResult, ToolUse};
use serde_json::Value;

/// What the fields of a value take beside their content.
const FIELDS: usize = 96;

pub(crate) fn value(value: &Value) -> usize {
    match value {
        Value::String(value) => value.len() + 24,
        Value::Array(values) => values.iter().map(self::value).sum::<usize>() + 24,
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| name.len() + self::value(it) + 24).sum::<usize>() + 24
        }
        _ => 24,
    }
}

pub(crate) fn message(msg: &Msg) -> usize {
    let blocks: usize = msg.content.iter().map(block).sum();
    let metadata: usize = msg.metadata.iter().map(|(name, it)| name.len() + value(it) + 8).sum();
    let pending: usize = msg.pending().iter().map(|it| 2 * FIELDS + tool_use(&it.call)).sum();
    2 * FIELDS + blocks + metadata + pending
}

pub(crate) fn block(block: &ContentBlock) -> usize {
    FIELDS
        + match block {
            ContentBlock::Text { text } => text.len(),
            ContentBlock::Thinking { thinking, signature } => {
                thinking.len() + signature.as_deref().map_or(0, str::len)
            }
            ContentBlock::ToolUse(it) => tool_use(it),
            ContentBlock::ToolResult(it) => tool_result(it),
            ContentBlock::RedactedThinking { data } => data.len(),
            ContentBlock::Image(it) | ContentBlock::Audio(it) | ContentBlock::File(it) => media(it),
            // Of a kind that came later: as long as its JSON.
            _ => serde_json::to_vec(block).map_or(0, |json| json.len()),
        }
}

fn media(media: &Media) -> usize {
    let source = match &media.source {
        MediaSource::Data(data) => data.len(),
        MediaSource::Url(url) => url.len(),
    };
    media.mime_type.len() + source + media.name.as_deref().map_or(0, str::len)
}

pub(crate) fn tool_use(call: &ToolUse) -> usize {
    let written = call.invalid_input.as_deref().map_or(0, str::len);
    let signature = call.signature.as_deref().map_or(0, str::len);
    FIELDS + call.id.len() + call.name.len() + value(&call.input) + written + signature
}

pub(crate) fn tool_result(result: &ToolResult) -> usize {
    let output = &result.output;
    let blocks: usize = output.blocks().iter().map(block).sum();
    let structured = output.structured().map_or(0, value);
    let ran = result.ran.as_deref().map_or(0, tool_use);
    let text = output.as_str().len();
    FIELDS + result.id.len() + result.name.len() + text + blocks + structured + ran
}
