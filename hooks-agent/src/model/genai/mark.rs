//! What the events of the crate leave out of a stream, read from the stream itself.

use futures::channel::mpsc::UnboundedSender;
use genai::chat::RawFrameRef;

/// Something that stood in the stream before the event that comes next.
#[derive(Debug)]
pub(super) enum Mark {
    /// Anthropic: a block is complete.
    BlockEnd,
    /// Anthropic: a block of encrypted thoughts.
    Redacted(String),
    /// Ollama: an error, which the crate takes for an empty line.
    Error,
}

impl Mark {
    /// Tells what there is to tell of a frame.
    pub(super) fn tell(frame: RawFrameRef<'_>, marks: &UnboundedSender<Self>) {
        if let Some(mark) = Self::of(frame) {
            // Nobody reads on when the answer is dropped.
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
            // Most lines are not worth reading twice.
            None if frame.data.starts_with("{\"error\"") => Some(Self::Error),
            _ => None,
        }
    }
}
