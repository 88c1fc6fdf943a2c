//! The content of a message, and of a reply.

use hooks_agent_core::message::{ContentBlock, Msg};
use serde_json::{Value, json};

use crate::context::Path;
use crate::context::message::remove_thinking;

/// Returns the content of a message without its thoughts and tool calls: the text, if there is nothing else.
pub(crate) fn content_of(content: &[ContentBlock]) -> Value {
    if content.iter().any(is_other) {
        let blocks: Vec<_> = content.iter().filter(|block| is_content(block)).collect();
        return json!({ "blocks": blocks });
    }
    json!(text_of(content))
}

/// Returns the texts of a message.
pub(crate) fn text_of(content: &[ContentBlock]) -> String {
    let mut joined = String::new();
    for block in content {
        if let ContentBlock::Text { text } = block {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(text);
        }
    }
    joined
}

/// Returns the texts of a message as a stream has them: one after the other.
pub(crate) fn said_of(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// Replaces the content of a message, as [`content_of`] has it.
pub(crate) fn set_content(value: &Value, content: &mut Vec<ContentBlock>) -> Result<(), Path> {
    let new = match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![ContentBlock::text(text)],
        Value::Object(fields) if fields.len() == 1 => {
            let blocks = fields.get("blocks").cloned().ok_or("content")?;
            let blocks: Vec<ContentBlock> =
                serde_json::from_value(blocks).map_err(|_| "content.blocks")?;
            if !blocks.iter().all(is_content) {
                return Err("content.blocks");
            }
            blocks
        }
        _ => return Err("content"),
    };
    let place = content.iter().position(is_content).unwrap_or(0);
    content.retain(|block| !is_content(block));
    content.splice(place.min(content.len())..place.min(content.len()), new);
    Ok(())
}

/// Returns the `output` of a reply.
pub(crate) fn output_of(reply: &Msg) -> Value {
    json!({ "content": content_of(&reply.content) })
}

/// Writes a changed output into a reply: its thoughts and its metadata, which may have what was removed, are gone.
pub(crate) fn output_back(output: &Value, reply: &mut Msg) -> Result<(), Path> {
    if *output == output_of(reply) {
        return Ok(());
    }
    if output.as_object().is_none_or(|fields| fields.len() != 1) {
        return Err("output");
    }
    set_content(&output["content"], &mut reply.content).map_err(|_| "output.content")?;
    remove_thinking(&mut reply.content);
    reply.metadata.clear();
    Ok(())
}

fn is_content(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text { .. } | ContentBlock::ToolResult(_)) || is_media(block)
}

/// Returns whether a block is content that a text does not say.
fn is_other(block: &ContentBlock) -> bool {
    is_media(block) || matches!(block, ContentBlock::ToolResult(_))
}

fn is_media(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Image(_) | ContentBlock::Audio(_) | ContentBlock::File(_))
}
