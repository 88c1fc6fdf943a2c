//! Media as providers tell them apart.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use hooks_agent_core::message::{ContentBlock, Media, MediaSource};

/// The kind of an attachment, by its MIME type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttachmentKind {
    Image,
    Audio,
    Video,
    Pdf,
    Text,
    Other,
}

/// An image, audio or a file of a message.
#[derive(Debug)]
pub(super) struct Attachment<'a> {
    pub(super) kind: AttachmentKind,
    /// The type and subtype, in lower case and without parameters.
    pub(super) mime_type: String,
    pub(super) media: &'a Media,
}

impl<'a> Attachment<'a> {
    /// Reads a block; none if it has no media.
    ///
    /// # Errors
    /// Why its media cannot be sent to any provider, and the remedy.
    pub(super) fn of(block: &'a ContentBlock) -> Result<Option<Self>, String> {
        let (noun, start, example, media) = match block {
            ContentBlock::Image(media) => ("an image", "image/", "image/png", media),
            ContentBlock::Audio(media) => ("audio", "audio/", "audio/wav", media),
            ContentBlock::File(media) => ("a file", "", "application/pdf", media),
            _ => return Ok(None),
        };
        let mime_type = essence(&media.mime_type).filter(|mime| mime.starts_with(start));
        let Some(mime_type) = mime_type else {
            return Err(format!("{noun} needs a MIME type such as `{example}`"));
        };
        let kind = AttachmentKind::of(&mime_type);
        let attachment = Self { kind, mime_type, media };
        if !attachment.is_url() && attachment.bytes().is_none() {
            let cure = "create it with `Media::bytes`";
            return Err(format!("the data of {noun} is not base64 with padding, {cure}"));
        }
        if kind == AttachmentKind::Text && !attachment.is_url() && attachment.text().is_none() {
            return Err("a text file is not UTF-8, convert it to UTF-8".to_owned());
        }
        Ok(Some(attachment))
    }

    pub(super) fn is_url(&self) -> bool {
        matches!(self.media.source, MediaSource::Url(_))
    }

    /// Returns the text of a text file whose bytes are known.
    pub(super) fn text(&self) -> Option<String> {
        let bytes = self.bytes().filter(|_| self.kind == AttachmentKind::Text)?;
        String::from_utf8(bytes).ok()
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match &self.media.source {
            MediaSource::Data(data) => STANDARD.decode(&**data).ok(),
            MediaSource::Url(_) => None,
        }
    }
}

impl AttachmentKind {
    fn of(mime_type: &str) -> Self {
        match mime_type.split_once('/') {
            Some(("image", _)) => Self::Image,
            Some(("audio", _)) => Self::Audio,
            Some(("video", _)) => Self::Video,
            Some(("text", _)) => Self::Text,
            Some(("application", "pdf")) => Self::Pdf,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for AttachmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "images",
            Self::Audio => "audio",
            Self::Video => "videos",
            Self::Pdf => "PDF files",
            Self::Text => "text files",
            Self::Other => "files of this MIME type",
        })
    }
}

/// Returns the type and subtype in lower case, if the MIME type has both.
fn essence(mime_type: &str) -> Option<String> {
    let essence = mime_type.split(';').next()?.trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/')?;
    let is_token = |part: &str| {
        let is_in_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !part.is_empty() && part.bytes().all(is_in_token)
    };
    (is_token(kind) && is_token(subtype)).then_some(essence)
}
