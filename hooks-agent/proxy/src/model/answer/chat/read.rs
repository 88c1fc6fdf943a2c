//! Reads the events of chat completions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::answer::piece::{Held, HeldKind, Malformed, Mark, Piece, ReadEvents, TextKind};
use crate::model::answer::scrub::scrub;
use crate::model::guarded::Call;

/// The fields of a message with texts of the model.
pub(super) const TEXTS: [(&str, TextKind); 4] = [
    ("content", TextKind::Said),
    ("refusal", TextKind::Said),
    ("reasoning_content", TextKind::Thought),
    ("reasoning", TextKind::Thought),
];

/// The most bytes of the calls of an answer.
const MOST_ARGUMENTS: usize = 8 * 1024 * 1024;

/// Reads the events of chat completions.
pub(crate) struct ReadChat {
    /// Whether hooks read the answer: then nothing of it passes that they have not read.
    is_read: bool,
    /// The field of the last text of each kind.
    said: &'static str,
    thought: &'static str,
    /// The calls that are not complete.
    calls: BTreeMap<u64, Value>,
    bytes: usize,
    has_begun: bool,
}

impl ReadChat {
    pub(crate) fn new(is_read: bool) -> Self {
        let (said, thought) = ("content", "reasoning_content");
        Self { is_read, said, thought, calls: BTreeMap::new(), bytes: 0, has_begun: false }
    }

    /// Takes the texts out of a delta.
    fn texts(&mut self, delta: &mut Value, pieces: &mut Vec<Piece>) {
        for (field, kind) in TEXTS {
            let Some(Value::String(text)) = delta.get_mut(field).map(Value::take) else { continue };
            if text.is_empty() {
                continue;
            }
            let last = match kind {
                TextKind::Said => &mut self.said,
                TextKind::Thought => &mut self.thought,
            };
            if *last != field {
                *last = field;
                pieces.push(Piece::Mark(Mark::Slot(field.into())));
            }
            pieces.push(Piece::Text(kind, text));
        }
    }

    /// Takes the parts of calls out of a delta.
    fn calls(&mut self, delta: &mut Value) -> Result<(), Malformed> {
        let Some(Value::Array(parts)) = delta.get_mut("tool_calls").map(Value::take) else {
            return Ok(());
        };
        for (place, mut part) in parts.into_iter().enumerate() {
            let index = part["index"].as_u64().unwrap_or(place as u64);
            let call = self.calls.entry(index).or_insert_with(|| json!({}));
            for name in ["id", "type"] {
                if part[name].is_string() {
                    call[name] = part[name].take();
                }
            }
            for (of, argument) in [("function", "arguments"), ("custom", "input")] {
                let Some(piece) = part.get(of).filter(|piece| piece.is_object()) else { continue };
                for name in ["name", argument] {
                    let Some(text) = piece[name].as_str() else { continue };
                    self.bytes += text.len();
                    let before = call[of][name].as_str().unwrap_or_default();
                    // A server may repeat the name in each part.
                    let text = if name == "name" && before == text { "" } else { text };
                    call[of][name] = format!("{before}{text}").into();
                }
            }
        }
        if self.bytes > MOST_ARGUMENTS { Err(Malformed) } else { Ok(()) }
    }

    fn read_chunk(&mut self, mut chunk: Value, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let choices = chunk["choices"].as_array().map_or(0, Vec::len);
        if choices > 1 {
            return Err(Malformed);
        }
        if choices == 0 {
            return self.other(chunk, pieces);
        }
        let choice = &mut chunk["choices"][0];
        if choice["index"].as_u64().unwrap_or_default() != 0
            || choice["delta"]["function_call"].is_object()
        {
            return Err(Malformed);
        }
        let has_calls = choice["delta"].get("tool_calls").is_some_and(|it| !it.is_null());
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let is_last = !choice["finish_reason"].is_null();
        if !self.is_read && !has_calls && !is_last {
            pieces.push(Piece::Mark(Mark::Event(chunk)));
            return Ok(());
        }
        let delta = &mut choice["delta"];
        let mut texts = Vec::new();
        self.texts(delta, &mut texts);
        self.calls(delta)?;
        if let Some(fields) = delta.as_object_mut() {
            fields.retain(|_, field| !field.is_null());
        }
        if self.is_read {
            scrub(&mut chunk);
        }
        if is_first {
            // What follows is written as it is.
            pieces.push(Piece::Mark(Mark::Event(without_end(&chunk))));
        }
        pieces.append(&mut texts);
        if is_last {
            for (_, call) in std::mem::take(&mut self.calls) {
                pieces.push(Piece::Mark(Mark::Held(Box::new(held_of(call)))));
            }
            pieces.push(Piece::Mark(Mark::Event(chunk)));
        } else if !is_first && chunk["usage"].is_object() {
            pieces.push(Piece::Pass(chunk));
        }
        Ok(())
    }

    /// Reads what is no part of the message.
    fn other(&mut self, mut chunk: Value, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let is_usage = chunk["usage"].is_object();
        let has_removed = self.is_read && scrub(&mut chunk);
        match (is_usage, has_removed) {
            (true, _) => pieces.push(Piece::Mark(Mark::Event(chunk))),
            (false, true) => {}
            (false, false) => pieces.push(Piece::Pass(chunk)),
        }
        Ok(())
    }
}

impl ReadEvents for ReadChat {
    fn read(&mut self, data: &str, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        if data.trim() == "[DONE]" {
            // Calls that no reason ends are of an answer that broke off.
            if !self.calls.is_empty() {
                return Err(Malformed);
            }
            pieces.push(Piece::Mark(Mark::End(Value::Null)));
            return Ok(());
        }
        let chunk: Value = serde_json::from_str(data).map_err(|_| Malformed)?;
        if !chunk.is_object() {
            return Err(Malformed);
        }
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            pieces.push(Piece::Mark(Mark::Failed(chunk)));
            return Ok(());
        }
        self.read_chunk(chunk, pieces)
    }
}

/// Returns a chunk without what ends an answer.
fn without_end(chunk: &Value) -> Value {
    let mut chunk = chunk.clone();
    chunk["choices"][0]["finish_reason"] = Value::Null;
    if let Some(fields) = chunk.as_object_mut() {
        fields.shift_remove("usage");
    }
    chunk
}

/// Returns the call of a message.
pub(super) fn held_of(call: Value) -> Held {
    let id = call["id"].as_str().unwrap_or_default();
    let call_of = if call["custom"].is_object() {
        let name = call["custom"]["name"].as_str().unwrap_or_default();
        let input = json!({ "input": call["custom"]["input"] });
        Call { id: id.to_owned(), name: name.to_owned(), input: Some(input) }
    } else {
        let function = &call["function"];
        let text = |name: &str| function[name].as_str().unwrap_or_default();
        Call::new(id, text("name"), text("arguments"))
    };
    Held { kind: HeldKind::Agent, call: call_of, result: None, events: vec![call] }
}
