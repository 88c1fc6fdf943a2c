//! Blocks of content as parts of the protocol, and back.

use hooks_agent_core::message::{ContentBlock, Media, MediaSource, ToolOutput};
use serde_json::Value;

use crate::protocol::{Content, ContentPart, PartSource};

/// Returns what a user said: text alone as text, anything else as parts.
pub(super) fn content_of(blocks: &[ContentBlock]) -> Content {
    match blocks {
        [ContentBlock::Text { text }] => Content::Text(text.clone()),
        _ => Content::Parts(blocks.iter().filter_map(part).collect()),
    }
}

/// Returns what a tool returned.
pub(super) fn content_of_output(output: &ToolOutput) -> Content {
    if output.blocks().is_empty() {
        return Content::Text(output.as_str().to_owned());
    }
    let text = ContentPart::Text { text: output.as_str().to_owned() };
    Content::Parts(std::iter::once(text).chain(output.blocks().iter().filter_map(part)).collect())
}

fn part(block: &ContentBlock) -> Option<ContentPart> {
    Some(match block {
        ContentBlock::Text { text } => ContentPart::Text { text: text.clone() },
        ContentBlock::Image(media) => ContentPart::Image { source: source(media) },
        ContentBlock::Audio(media) => ContentPart::Audio { source: source(media) },
        ContentBlock::File(media) => ContentPart::Document { source: source(media) },
        _ => return None,
    })
}

fn source(media: &Media) -> PartSource {
    let mime_type = media.mime_type.clone();
    match &media.source {
        MediaSource::Data(data) => PartSource::Data { value: data.to_string(), mime_type },
        MediaSource::Url(url) => PartSource::Url { value: url.to_string(), mime_type },
    }
}

/// Returns the blocks of a content that a client sent. Parts that cannot be used are skipped.
pub(crate) fn blocks_of(content: &Value) -> Vec<ContentBlock> {
    match content {
        Value::String(text) => vec![ContentBlock::text(text)],
        Value::Array(parts) => parts.iter().filter_map(block).collect(),
        _ => Vec::new(),
    }
}

/// Returns the texts of a content that a client sent.
pub(crate) fn text_of(content: &Value) -> String {
    let blocks = blocks_of(content);
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn block(part: &Value) -> Option<ContentBlock> {
    let kind = part["type"].as_str()?;
    if kind == "text" {
        return Some(ContentBlock::text(part["text"].as_str()?));
    }
    let source = &part["source"];
    let value = source["value"].as_str()?;
    let mime = |default| source["mimeType"].as_str().unwrap_or(default).to_owned();
    let media = |default| match source["type"].as_str()? {
        "data" => Some(Media::base64(source["mimeType"].as_str()?, value)),
        "url" => Some(Media::url(mime(default), value)),
        _ => None,
    };
    Some(match kind {
        "image" => ContentBlock::Image(media("image/*")?),
        "audio" => ContentBlock::Audio(media("audio/*")?),
        "document" => ContentBlock::File(media("application/octet-stream")?),
        _ => return None,
    })
}
