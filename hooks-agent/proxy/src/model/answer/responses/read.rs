//! Reads the events of responses.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use crate::model::answer::piece::{Malformed, Mark, Piece, ReadEvents, TextKind};
use crate::model::answer::responses::item::{held_of, is_held};
use crate::model::answer::responses::slots::{done_text, slot_of, texts_of};
use crate::model::answer::scrub::scrub;

/// The most bytes of the events of calls that are not complete.
const MOST_HELD: usize = 16 * 1024 * 1024;

/// Reads the events of responses.
pub(crate) struct ReadResponses {
    /// Whether hooks read the answer: then nothing of it passes that they have not read.
    is_read: bool,
    /// The events of items that are not complete, by the number of the item.
    held: BTreeMap<u64, Vec<Value>>,
    bytes: usize,
    /// The place of the last text.
    slot: String,
    /// The places of which there was a text.
    seen: HashSet<String>,
}

impl ReadResponses {
    pub(crate) fn new(is_read: bool) -> Self {
        let (held, seen) = (BTreeMap::new(), HashSet::new());
        Self { is_read, held, bytes: 0, slot: String::new(), seen }
    }

    /// Reads an event of an item that is held.
    fn hold(
        &mut self,
        output: u64,
        event: Value,
        bytes: usize,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Malformed> {
        self.bytes += bytes;
        if self.bytes > MOST_HELD {
            return Err(Malformed);
        }
        let is_done = event["type"] == "response.output_item.done";
        let events = self.held.entry(output).or_default();
        events.push(event);
        if is_done {
            let events = self.held.remove(&output).unwrap_or_default();
            let item = events.last().map(|event| event["item"].clone()).unwrap_or_default();
            pieces.push(Piece::Mark(Mark::Held(Box::new(held_of(&item, events)))));
        }
        Ok(())
    }

    /// Reads a part of a text.
    fn delta(
        &mut self,
        mut event: Value,
        kind: TextKind,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Malformed> {
        let Value::String(text) = event["delta"].take() else { return Err(Malformed) };
        scrub(&mut event);
        self.text(&slot_of(&event), event, kind, text, pieces);
        Ok(())
    }

    /// Adds a text at a place, which is written by an event.
    fn text(
        &mut self,
        slot: &str,
        mut event: Value,
        kind: TextKind,
        text: String,
        pieces: &mut Vec<Piece>,
    ) {
        self.seen.insert(slot.to_owned());
        if self.slot != slot {
            slot.clone_into(&mut self.slot);
            if event["logprobs"].is_array() {
                event["logprobs"] = json!([]);
            }
            pieces.push(Piece::Mark(Mark::Slot(event)));
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(kind, text));
        }
    }

    /// Reads the end of a text, which repeats it.
    fn done(&mut self, mut event: Value, pieces: &mut Vec<Piece>) {
        let slot = slot_of(&event);
        if let Some(Value::String(text)) = done_text(&mut event) {
            let text = std::mem::take(text);
            self.unseen(&slot, &event, text, pieces);
        }
        scrub(&mut event);
        pieces.push(Piece::Mark(Mark::Event(event)));
    }

    /// Reads the end of an item, which repeats its texts.
    fn item_done(&mut self, mut event: Value, pieces: &mut Vec<Piece>) {
        let output = event["output_index"].as_u64().unwrap_or_default();
        let mut item = event["item"].take();
        let mut texts = Vec::new();
        for (slot, text) in texts_of(output, &mut item) {
            if let Value::String(text) = text {
                texts.push((slot, std::mem::take(text)));
            }
        }
        for (slot, text) in texts {
            self.unseen(&slot, &event, text, pieces);
        }
        scrub(&mut item);
        event["item"] = item;
        pieces.push(Piece::Mark(Mark::Event(event)));
    }

    /// Adds a text of which no part was seen.
    fn unseen(&mut self, slot: &str, event: &Value, text: String, pieces: &mut Vec<Piece>) {
        if text.is_empty() || self.seen.contains(slot) {
            return;
        }
        let mut parts = slot.split('/');
        let (output, list, index) = (parts.next(), parts.next(), parts.next());
        let number =
            |part: Option<&str>| part.and_then(|it| it.parse::<u64>().ok()).unwrap_or_default();
        let is_summary = list == Some("summary");
        let kind = if is_summary { TextKind::Thought } else { TextKind::Said };
        let name = if is_summary { "reasoning_summary_text" } else { "output_text" };
        let index_name = if is_summary { "summary_index" } else { "content_index" };
        let event = json!({
            "type": format!("response.{name}.delta"), "item_id": event["item_id"],
            "output_index": number(output), index_name: number(index),
        });
        self.text(slot, event, kind, text, pieces);
    }
}

impl ReadEvents for ReadResponses {
    fn read(&mut self, data: &str, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut event: Value = serde_json::from_str(data).map_err(|_| Malformed)?;
        let kind = event["type"].as_str().ok_or(Malformed)?.to_owned();
        let output = event["output_index"].as_u64();
        let begins_held = kind == "response.output_item.added" && is_held(&event["item"]);
        let ends_held = kind == "response.output_item.done" && is_held(&event["item"]);
        if let Some(output) = output
            && (begins_held || ends_held || self.held.contains_key(&output))
        {
            return self.hold(output, event, data.len(), pieces);
        }
        match kind.as_str() {
            "error" => pieces.push(Piece::Mark(Mark::Failed(event))),
            "response.completed" | "response.incomplete" | "response.failed" => {
                if self.is_read {
                    event["response"]["output"] = json!([]);
                    scrub(&mut event);
                }
                pieces.push(Piece::Mark(Mark::End(event)));
            }
            _ if !self.is_read => pieces.push(Piece::Mark(Mark::Event(event))),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(event, TextKind::Said, pieces)?;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(event, TextKind::Thought, pieces)?;
            }
            "response.output_text.done"
            | "response.refusal.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_text.done"
            | "response.content_part.done"
            | "response.reasoning_summary_part.done" => self.done(event, pieces),
            "response.output_item.done" => self.item_done(event, pieces),
            "response.created"
            | "response.in_progress"
            | "response.queued"
            | "response.output_item.added"
            | "response.content_part.added"
            | "response.reasoning_summary_part.added" => {
                begin(&mut event);
                scrub(&mut event);
                pieces.push(Piece::Mark(Mark::Event(event)));
            }
            _ if scrub(&mut event) => {}
            _ => pieces.push(Piece::Pass(event)),
        }
        Ok(())
    }
}

/// Empties the text of a part that begins; it comes in parts, or at the end.
fn begin(event: &mut Value) {
    if event.get("part").is_some()
        && let Some(text) = done_text(event)
    {
        *text = "".into();
    }
}
