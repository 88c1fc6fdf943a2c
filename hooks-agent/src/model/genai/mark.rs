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
    /// Gemini: the prompt is blocked, for this reason. The crate reports an error without it.
    Blocked(String),
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
        if ["\"error\"", "\"blockReason\""].iter().any(|name| frame.data.contains(name)) {
            let event = frame.json()?;
            let mark = reported(&event).or_else(|| blocked(&event));
            if mark.is_some() {
                return mark;
            }
        }
        match frame.event {
            Some("content_block_stop") => Some(Self::BlockEnd),
            Some("content_block_start") => redacted(&frame.json()?).map(Self::Redacted),
            _ => None,
        }
    }
}

fn reported(event: &Value) -> Option<Mark> {
    event.get("error").filter(|error| !error.is_null())?;
    Some(Mark::Error(Report::of_body(event)))
}

fn blocked(event: &Value) -> Option<Mark> {
    let reason = event.pointer("/promptFeedback/blockReason")?.as_str()?;
    let is_answered = event.pointer("/candidates/0").is_some();
    (!is_answered).then(|| Mark::Blocked(reason.to_owned()))
}

fn redacted(event: &Value) -> Option<String> {
    let block = event.get("content_block")?;
    let data = block.get("data")?.as_str()?;
    (block.get("type")? == "redacted_thinking").then(|| data.to_owned())
}
