//! Writes the events of responses.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::model::answer::frames::Frames;
use crate::model::answer::piece::{Fate, Held, TextKind, WriteEvents};
use crate::model::answer::responses::item::left;
use crate::model::answer::responses::slots::{done_text, slot_of, texts_of};

/// Writes the events of responses, with numbers in the order in which they are written.
pub(crate) struct WriteResponses {
    /// Whether hooks read the answer: then texts are those that were written.
    is_read: bool,
    sequence: u64,
    /// How the next text is written.
    slot: Value,
    /// The texts that were written, by their places.
    said: HashMap<String, String>,
    /// The items that were written.
    items: BTreeMap<u64, Value>,
    has_changed: bool,
}

impl WriteResponses {
    pub(crate) fn new(is_read: bool) -> Self {
        let (said, items) = (HashMap::new(), BTreeMap::new());
        Self { is_read, sequence: 0, slot: json!({}), said, items, has_changed: false }
    }

    fn write(&mut self, mut event: Value, frames: &mut Frames) {
        event["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        frames.typed(&event);
    }

    /// Writes the texts in an item as they were written before.
    fn fill(&self, output: u64, item: &mut Value) {
        for (slot, text) in texts_of(output, item) {
            *text = self.said.get(&slot).map(String::as_str).unwrap_or_default().into();
        }
    }

    /// Writes an item that stands in the place of another one.
    fn item(&mut self, output: u64, item: Value, frames: &mut Frames) {
        let mut begun = item.clone();
        let of = |kind: &str| json!({ "type": format!("response.{kind}"), "output_index": output });
        let with = |kind: &str, name: &str, value: Value| {
            let mut event = of(kind);
            event["item_id"] = item["id"].clone();
            event["content_index"] = 0.into();
            event[name] = value;
            event
        };
        let mut events = Vec::new();
        match item["type"].as_str() {
            Some("message") => {
                begun["status"] = "in_progress".into();
                let part = std::mem::replace(&mut begun["content"], json!([]))[0].take();
                let mut empty = part.clone();
                let text = std::mem::replace(&mut empty["text"], "".into());
                events.push(with("content_part.added", "part", empty));
                events.push(with("output_text.delta", "delta", text.clone()));
                events.push(with("output_text.done", "text", text));
                events.push(with("content_part.done", "part", part));
            }
            Some("function_call") => {
                begun["status"] = "in_progress".into();
                let arguments = std::mem::replace(&mut begun["arguments"], "".into());
                let done = with("function_call_arguments.done", "arguments", arguments.clone());
                events.push(with("function_call_arguments.delta", "delta", arguments));
                events.push(done);
            }
            _ => {}
        }
        let mut added = of("output_item.added");
        added["item"] = begun;
        let mut done = of("output_item.done");
        done["item"] = item.clone();
        for event in [added].into_iter().chain(events).chain([done]) {
            self.write(event, frames);
        }
        self.items.insert(output, item);
    }
}

impl WriteEvents for WriteResponses {
    fn text(&mut self, _: TextKind, text: String, frames: &mut Frames) {
        let mut event = self.slot.clone();
        self.said.entry(slot_of(&event)).or_default().push_str(&text);
        event["delta"] = text.into();
        self.write(event, frames);
    }

    fn signature(&mut self, _: String, _: &mut Frames) {}

    fn event(&mut self, mut event: Value, frames: &mut Frames) {
        let output = event["output_index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("response.output_item.done") => {
                if self.is_read {
                    self.fill(output, &mut event["item"]);
                }
                self.items.insert(output, event["item"].clone());
            }
            Some(kind) if self.is_read && kind.rsplit('.').next() == Some("done") => {
                let said = self.said.get(&slot_of(&event)).cloned().unwrap_or_default();
                if let Some(text) = done_text(&mut event) {
                    *text = said.into();
                }
            }
            _ => {}
        }
        self.write(event, frames);
    }

    fn slot(&mut self, event: Value) {
        self.slot = event;
    }

    fn held(&mut self, held: Held, fate: Fate, frames: &mut Frames) {
        let Some(last) = held.events.last() else { return };
        let output = last["output_index"].as_u64().unwrap_or_default();
        let item = last["item"].clone();
        if fate == Fate::Passes {
            for event in held.events {
                self.write(event, frames);
            }
            self.items.insert(output, item);
            return;
        }
        self.has_changed = true;
        self.item(output, left(item, &fate), frames);
    }

    fn end(&mut self, mut event: Value, frames: &mut Frames) {
        if self.is_read || self.has_changed {
            let items: Vec<_> = std::mem::take(&mut self.items).into_values().collect();
            event["response"]["output"] = items.into();
        }
        self.write(event, frames);
    }

    fn failed(&mut self, reason: &str, frames: &mut Frames) {
        let error =
            json!({ "type": "error", "code": "upstream_failed", "message": reason, "param": null });
        self.write(error, frames);
    }
}
