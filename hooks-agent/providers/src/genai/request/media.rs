//! Converts images, audio and files.

use genai::chat::ContentPart;
use serde_json::{Value, json};

use crate::genai::attachment::{Attachment, AttachmentKind};
use crate::genai::provider::Provider;
use hooks_agent_core::message::{ContentBlock, MediaSource};

/// Converts a block with media for a message of the user; none if it has no media.
pub(super) fn media_part(provider: Provider, block: &ContentBlock) -> Option<ContentPart> {
    if provider == Provider::Anthropic {
        return anthropic_block(block).map(|block| ContentPart::from_custom(block, None));
    }
    let Attachment { kind, mime_type, media } = attachment(block)?;
    let (mime_type, name) = match provider {
        Provider::OpenAi if kind == AttachmentKind::Audio => (openai_audio(&mime_type), None),
        // A file without a name is refused.
        Provider::OpenAi => {
            let name = media.name.clone().unwrap_or_else(|| file_name(&mime_type));
            (mime_type, Some(name))
        }
        // Raw audio has its rate as a parameter.
        Provider::Gemini => (media.mime_type.trim().to_owned(), None),
        Provider::Anthropic | Provider::Ollama => (mime_type, None),
    };
    Some(match &media.source {
        MediaSource::Data(data) => ContentPart::from_binary_base64(mime_type, data.clone(), name),
        MediaSource::Url(url) => ContentPart::from_binary_url(mime_type, &**url, name),
    })
}

/// Converts a block with media to one of Anthropic, which the crate would send without the name,
/// and an image at a URL not at all.
pub(super) fn anthropic_block(block: &ContentBlock) -> Option<Value> {
    let attachment = attachment(block)?;
    let source = match (&attachment.media.source, attachment.text()) {
        (MediaSource::Url(url), _) => json!({ "type": "url", "url": &**url }),
        (_, Some(text)) => json!({ "type": "text", "media_type": "text/plain", "data": text }),
        (MediaSource::Data(data), None) => {
            json!({ "type": "base64", "media_type": attachment.mime_type, "data": &**data })
        }
    };
    Some(match (attachment.kind, &attachment.media.name) {
        (AttachmentKind::Image, _) => json!({ "type": "image", "source": source }),
        (_, Some(name)) => json!({ "type": "document", "source": source, "title": name }),
        (_, None) => json!({ "type": "document", "source": source }),
    })
}

/// What cannot be sent was refused.
fn attachment(block: &ContentBlock) -> Option<Attachment<'_>> {
    Attachment::of(block).ok().flatten()
}

/// The crate sends the subtype as the format, which is `wav` or `mp3`.
fn openai_audio(mime_type: &str) -> String {
    match mime_type {
        "audio/wave" | "audio/x-wav" | "audio/vnd.wave" => "audio/wav",
        "audio/mpeg" | "audio/x-mp3" => "audio/mp3",
        other => other,
    }
    .to_owned()
}

fn file_name(mime_type: &str) -> String {
    match mime_type {
        "application/pdf" => "file.pdf",
        "text/plain" => "file.txt",
        _ => "file",
    }
    .to_owned()
}
