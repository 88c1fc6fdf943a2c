//! About how long the JSON of content is, without writing it.

use hooks_agent_core::message::{ContentBlock, Media, MediaSource, Msg, ToolResult, ToolUse};
use serde_json::Value;

/// What the names of the fields of a message, a block or a call take.
const FIELDS: usize = 96;

/// Returns the length of a text in JSON.
pub(crate) fn text(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    });
    escaped.sum::<usize>() + 2
}

pub(crate) fn value(value: &Value) -> usize {
    match value {
        Value::String(value) => text(value) + 1,
        Value::Array(values) => values.iter().map(self::value).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| text(name) + self::value(it) + 2).sum::<usize>() + 2
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
            ContentBlock::Text { text: it } => text(it),
            ContentBlock::Thinking { thinking, signature } => {
                text(thinking) + signature.as_deref().map_or(0, text)
            }
            ContentBlock::ToolUse(it) => tool_use(it),
            ContentBlock::ToolResult(it) => tool_result(it),
            ContentBlock::RedactedThinking { data } => text(data),
            ContentBlock::Image(it) | ContentBlock::Audio(it) | ContentBlock::File(it) => media(it),
            // Of a kind that came later: as long as its JSON.
            _ => serde_json::to_vec(block).map_or(0, |json| json.len()),
        }
}

fn media(media: &Media) -> usize {
    let source = match &media.source {
        // Base64 has nothing to escape.
        MediaSource::Data(data) => data.len(),
        MediaSource::Url(url) => text(url),
    };
    text(&media.mime_type) + source + media.name.as_deref().map_or(0, text)
}

pub(crate) fn tool_use(call: &ToolUse) -> usize {
    let written = call.invalid_input.as_deref().map_or(0, text);
    let signature = call.signature.as_deref().map_or(0, text);
    FIELDS + text(&call.id) + text(&call.name) + value(&call.input) + written + signature
}

pub(crate) fn tool_result(result: &ToolResult) -> usize {
    let output = &result.output;
    let blocks: usize = output.blocks().iter().map(block).sum();
    let structured = output.structured().map_or(0, value);
    let ran = result.ran.as_deref().map_or(0, tool_use);
    FIELDS
        + text(&result.id)
        + text(&result.name)
        + text(output.as_str())
        + blocks
        + structured
        + ran
}
