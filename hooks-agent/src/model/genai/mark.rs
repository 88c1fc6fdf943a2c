//! Reads the parts of a stream that the events of the crate omit.

use futures::channel::mpsc::UnboundedSender;
use genai::chat::RawFrameRef;
use serde_json::Value;

use crate::model::genai::report::Report;

/// A part of the stream before the next event.
#[derive(Debug)]
pub(super) enum Mark {
    /// Anthropic: a block is complete.
    BlockEnd,
    /// Anthropic: a block of encrypted thoughts.
    Redacted(String),
    /// An error. The crate treats one of Ollama as an empty line.
    Error(Report),
}

impl Mark {
    /// Sends the mark of a frame, if there is one.
    pub(super) fn tell(frame: RawFrameRef<'_>, marks: &UnboundedSender<Self>) {
        if let Some(mark) = Self::of(frame) {
            // The receiver is gone when the answer is dropped.
            let _ = marks.unbounded_send(mark);
        }
    }

    fn of(frame: RawFrameRef<'_>) -> Option<Self> {
        // Most frames need no second parse: a quote inside of a text is escaped.
        if frame.data.contains("\"error\"") {
            let event = frame.json()?;
            let is_error = event.get("error").is_some_and(|error| !error.is_null());
            if is_error {
                return Some(Self::Error(Report::of_body(&event)));
            }
        }
        match frame.event {
            Some("content_block_stop") => Some(Self::BlockEnd),
            Some("content_block_start") => redacted(&frame.json()?).map(Self::Redacted),
            _ => None,
        }
    }
}

fn redacted(event: &Value) -> Option<String> {
    let block = event.get("content_block")?;
    let data = block.get("data")?.as_str()?;
    (block.get("type")? == "redacted_thinking").then(|| data.to_owned())
}
