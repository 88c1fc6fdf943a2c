//! Reads the parts of a stream that the events of the crate omit.

use futures::channel::mpsc::UnboundedSender;
use genai::chat::RawFrameRef;
use serde_json::Value;

use crate::genai::provider::Provider;
use crate::genai::report::Report;

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
    /// Another event of the API.
    Event,
}

impl Mark {
    /// Sends the mark of a frame, if there is one.
    pub(super) fn tell(provider: Provider, frame: RawFrameRef<'_>, marks: &UnboundedSender<Self>) {
        let is_event = is_event(provider, frame);
        if let Some(mark) = Self::of(frame).or_else(|| is_event.then_some(Self::Event)) {
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

/// Returns whether a frame is an event of the API. A line of another body is none.
fn is_event(provider: Provider, frame: RawFrameRef<'_>) -> bool {
    match provider {
        Provider::OpenAi | Provider::Gemini => !frame.data.is_empty(),
        Provider::Anthropic => frame.event.is_some(),
        // The first line is enough: the lines of a stream are alike.
        Provider::Ollama => frame.index == 0 && is_line(frame.data),
    }
}

/// Returns whether this is a line of Ollama, or the start of one.
fn is_line(text: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(line) => ["message", "done", "error"].iter().any(|name| line.get(name).is_some()),
        // The first line of an indented object is a brace alone.
        Err(error) => error.is_eof() && text.trim_start().starts_with("{\""),
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
