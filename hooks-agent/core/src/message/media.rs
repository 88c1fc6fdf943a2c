//! Images, audio and files in messages.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// An image, audio or a file, as content of a message: its bytes, or a URL where the provider loads
/// it.
///
/// A provider that cannot read it fails the call with a
/// [`ModelError::Failed`](crate::model::ModelError::Failed) that says so. Debug output has the
/// number of bytes instead of the bytes.
///
/// ```
/// use hooks_agent::message::{ContentBlock, Media, Msg};
///
/// let chart = Media::bytes("image/png", b"\x89PNG..");
/// let msg = Msg::user("What does this chart say?").with(ContentBlock::Image(chart));
/// assert_eq!(
///     serde_json::to_string(&msg.content[1])?,
///     r#"{"type":"image","mime_type":"image/png","data":"iVBORy4u"}"#,
/// );
///
/// let report = Media::url("application/pdf", "https://example.com/report.pdf").named("report.pdf");
/// # assert_eq!(report.name.as_deref(), Some("report.pdf"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Media {
    /// The MIME type, such as `image/png`.
    pub mime_type: String,
    /// The bytes, or where they are.
    #[serde(flatten)]
    pub source: MediaSource,
    /// The name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The bytes of a [`Media`], or where they are.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaSource {
    /// The bytes, in base64 with padding.
    Data(Arc<str>),
    /// A URL that the provider loads.
    Url(Arc<str>),
}

impl Media {
    /// Creates media from its bytes.
    #[must_use]
    pub fn bytes(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::new(mime_type, MediaSource::Data(STANDARD.encode(bytes).into()))
    }

    /// Creates media from its bytes in base64, with padding.
    #[must_use]
    pub fn base64(mime_type: impl Into<String>, data: impl Into<Arc<str>>) -> Self {
        Self::new(mime_type, MediaSource::Data(data.into()))
    }

    /// Creates media that the provider loads from a URL.
    #[must_use]
    pub fn url(mime_type: impl Into<String>, url: impl Into<Arc<str>>) -> Self {
        Self::new(mime_type, MediaSource::Url(url.into()))
    }

    fn new(mime_type: impl Into<String>, source: MediaSource) -> Self {
        Self { mime_type: mime_type.into(), source, name: None }
    }

    /// Sets the name of the file.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl MediaSource {
    /// Returns the data as base64, or the URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Data(text) | Self::Url(text) => text,
        }
    }
}

impl fmt::Debug for MediaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(data) => write!(f, "Data({} bytes of base64)", data.len()),
            Self::Url(url) => f.debug_tuple("Url").field(url).finish(),
        }
    }
}
