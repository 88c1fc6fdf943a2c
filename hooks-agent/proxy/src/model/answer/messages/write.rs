//! Writes the events of messages.

use serde_json::{Value, json};

use crate::model::answer::frames::Frames;
use crate::model::answer::piece::{Fate, Held, HeldKind, TextKind, WriteEvents};

/// Writes the events of messages. Blocks have numbers in the order in which they are written.
#[derive(Default)]
pub(crate) struct WriteMessages {
    /// How many blocks were begun.
    blocks: u64,
    has_calls: bool,
    has_denied: bool,
}

impl WriteMessages {
    /// Begins a block.
    fn begin(&mut self, mut event: Value, frames: &mut Frames) {
        event["index"] = self.blocks.into();
        self.blocks += 1;
        frames.typed(&event);
    }

    /// Writes an event of the last block.
    fn of_block(&self, mut event: Value, frames: &mut Frames) {
        event["index"] = self.blocks.saturating_sub(1).into();
        frames.typed(&event);
    }

    fn delta(&self, delta: &Value, frames: &mut Frames) {
        self.of_block(json!({ "type": "content_block_delta", "index": 0, "delta": delta }), frames);
    }

    fn stop(&self, frames: &mut Frames) {
        self.of_block(json!({ "type": "content_block_stop", "index": 0 }), frames);
    }

    fn block(&mut self, block: &Value, frames: &mut Frames) {
        let begin = json!({ "type": "content_block_start", "index": 0, "content_block": block });
        self.begin(begin, frames);
    }

    /// Writes a block of text.
    fn says(&mut self, text: &str, frames: &mut Frames) {
        self.block(&json!({ "type": "text", "text": "" }), frames);
        self.delta(&json!({ "type": "text_delta", "text": text }), frames);
        self.stop(frames);
    }

    fn passes(&mut self, events: Vec<Value>, frames: &mut Frames) {
        let mut events = events.into_iter();
        if let Some(first) = events.next() {
            self.begin(first, frames);
        }
        for event in events {
            self.of_block(event, frames);
        }
    }
}

impl WriteEvents for WriteMessages {
    fn text(&mut self, kind: TextKind, text: String, frames: &mut Frames) {
        let delta = match kind {
            TextKind::Said => json!({ "type": "text_delta", "text": text }),
            TextKind::Thought => json!({ "type": "thinking_delta", "thinking": text }),
        };
        self.delta(&delta, frames);
    }

    fn signature(&mut self, signature: String, frames: &mut Frames) {
        self.delta(&json!({ "type": "signature_delta", "signature": signature }), frames);
    }

    fn event(&mut self, mut event: Value, frames: &mut Frames) {
        match event["type"].as_str() {
            Some("content_block_start") => self.begin(event, frames),
            Some("content_block_delta" | "content_block_stop") => self.of_block(event, frames),
            Some("message_delta") => {
                settle_reason(&mut event["delta"], self.has_calls, self.has_denied);
                frames.typed(&event);
            }
            _ => frames.typed(&event),
        }
    }

    fn slot(&mut self, _: Value) {}

    fn held(&mut self, mut held: Held, fate: Fate, frames: &mut Frames) {
        let is_of_agent = held.kind == HeldKind::Agent;
        self.has_calls |= is_of_agent && matches!(fate, Fate::Passes | Fate::Rewritten(_));
        match fate {
            Fate::Passes => self.passes(held.events, frames),
            Fate::Dropped => {}
            Fate::Denied(reason) if held.kind == HeldKind::Result => {
                let block = &mut held.events[0]["content_block"];
                withhold(block, &reason);
                self.passes(held.events, frames);
            }
            Fate::Denied(reason) => {
                self.has_denied |= is_of_agent;
                self.says(&reason, frames);
            }
            Fate::Rewritten(input) => {
                let mut block = held.events.swap_remove(0)["content_block"].take();
                block["input"] = json!({});
                self.block(&block, frames);
                let input = input.to_string();
                self.delta(&json!({ "type": "input_json_delta", "partial_json": input }), frames);
                self.stop(frames);
            }
            Fate::Replaced(result) => {
                held.events[0]["content_block"]["content"] = result;
                self.passes(held.events, frames);
            }
        }
    }

    fn end(&mut self, event: Value, frames: &mut Frames) {
        frames.typed(&event);
    }

    fn failed(&mut self, reason: &str, frames: &mut Frames) {
        let error = json!({ "type": "api_error", "message": reason });
        frames.typed(&json!({ "type": "error", "error": error }));
    }
}

/// Withholds the result of a tool that the provider ran, in a form that its block may have.
pub(super) fn withhold(block: &mut Value, reason: &str) {
    let kind = block["type"].as_str().unwrap_or_default();
    block["content"] = if kind == "mcp_tool_result" {
        json!([{ "type": "text", "text": reason }])
    } else {
        json!({ "type": format!("{kind}_error"), "error_code": "unavailable" })
    };
}

/// Says that the turn has ended if none of its tool calls is left.
pub(super) fn settle_reason(of: &mut Value, has_calls: bool, has_denied: bool) {
    if has_denied && !has_calls && of["stop_reason"] == "tool_use" {
        of["stop_reason"] = "end_turn".into();
    }
}
