//! Reads the parts of a stream that the events of the crate omit.

use futures::channel::mpsc::UnboundedSender;
use genai::chat::RawFrameRef;

/// A part of the stream before the next event.
#[derive(Debug)]
pub(super) enum Mark {
    /// Anthropic: a block is complete.
    BlockEnd,
    /// Anthropic: a block of encrypted thoughts.
    Redacted(String),
    /// Ollama: an error, which the crate treats as an empty line.
    Error,
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
        match frame.event {
            Some("content_block_stop") => Some(Self::BlockEnd),
            Some("content_block_start") => {
                let event = frame.json()?;
                let block = event.get("content_block")?;
                let data = block.get("data")?.as_str()?;
                let is_redacted = block.get("type")? == "redacted_thinking";
                is_redacted.then(|| Self::Redacted(data.to_owned()))
            }
            // Most lines need no second parse.
            None if frame.data.starts_with("{\"error\"") => Some(Self::Error),
            _ => None,
        }
    }
}
