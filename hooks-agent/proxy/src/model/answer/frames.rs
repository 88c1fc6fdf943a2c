//! Server-sent events, as bytes.

use axum::body::Bytes;
use serde_json::Value;

/// Server-sent events that were written.
#[derive(Debug, Default)]
pub(crate) struct Frames(String);

impl Frames {
    /// Writes an event without a name.
    pub(crate) fn data(&mut self, data: &Value) {
        self.line(&data.to_string());
    }

    /// Writes an event whose name is its type.
    pub(crate) fn typed(&mut self, data: &Value) {
        if let Some(name) = data["type"].as_str().filter(|name| !name.contains(['\n', '\r'])) {
            self.0.push_str("event: ");
            self.0.push_str(name);
            self.0.push('\n');
        }
        self.data(data);
    }

    /// Writes the data of an event, which is one line.
    pub(crate) fn line(&mut self, data: &str) {
        self.0.push_str("data: ");
        self.0.push_str(data);
        self.0.push_str("\n\n");
    }

    /// Returns what was written, if there is any.
    pub(crate) fn take(&mut self) -> Option<Bytes> {
        (!self.0.is_empty()).then(|| std::mem::take(&mut self.0).into())
    }
}
