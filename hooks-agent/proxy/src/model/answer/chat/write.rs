//! Writes the events of chat completions.

use serde_json::{Value, json};

use crate::model::answer::frames::Frames;
use crate::model::answer::piece::{Fate, Held, TextKind, WriteEvents};

/// Writes the events of chat completions.
pub(crate) struct WriteChat {
    /// What all chunks have.
    envelope: Value,
    said: String,
    thought: String,
    has_text: bool,
    /// How many calls were written.
    calls: u64,
    has_denied: bool,
}

impl WriteChat {
    pub(crate) fn new() -> Self {
        Self {
            envelope: json!({ "object": "chat.completion.chunk" }),
            said: "content".to_owned(),
            thought: "reasoning_content".to_owned(),
            has_text: false,
            calls: 0,
            has_denied: false,
        }
    }

    fn delta(&self, delta: &Value, frames: &mut Frames) {
        let mut chunk = self.envelope.clone();
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        frames.data(&chunk);
    }
}

impl WriteEvents for WriteChat {
    fn text(&mut self, kind: TextKind, text: String, frames: &mut Frames) {
        self.has_text |= kind == TextKind::Said;
        let field = match kind {
            TextKind::Said => &self.said,
            TextKind::Thought => &self.thought,
        };
        self.delta(&json!({ field: text }), frames);
    }

    fn signature(&mut self, _: String, _: &mut Frames) {}

    fn event(&mut self, mut event: Value, frames: &mut Frames) {
        if event["choices"].as_array().is_some_and(|choices| !choices.is_empty()) {
            let mut envelope = event.clone();
            if let Some(fields) = envelope.as_object_mut() {
                fields.shift_remove("usage");
            }
            self.envelope = envelope;
            let choice = &mut event["choices"][0];
            self.has_text |= choice["delta"]["content"].as_str().is_some_and(|it| !it.is_empty());
            settle_reason(choice, self.calls > 0, self.has_denied);
        }
        frames.data(&event);
    }

    fn slot(&mut self, event: Value) {
        let Some(field) = event.as_str() else { return };
        let slot = if field.starts_with("reasoning") { &mut self.thought } else { &mut self.said };
        field.clone_into(slot);
    }

    fn held(&mut self, mut held: Held, fate: Fate, frames: &mut Frames) {
        let mut call = held.events.swap_remove(0);
        match fate {
            Fate::Passes | Fate::Replaced(_) => {}
            Fate::Rewritten(input) => rewrite(&mut call, &input),
            Fate::Dropped => return,
            Fate::Denied(reason) => {
                self.has_denied = true;
                let begin = if self.has_text { "\n\n" } else { "" };
                self.has_text = true;
                return self.delta(&json!({ "content": format!("{begin}{reason}") }), frames);
            }
        }
        call["index"] = self.calls.into();
        self.calls += 1;
        self.delta(&json!({ "tool_calls": [call] }), frames);
    }

    fn end(&mut self, _: Value, frames: &mut Frames) {
        frames.line("[DONE]");
    }

    fn failed(&mut self, reason: &str, frames: &mut Frames) {
        frames.data(&json!({ "error": {
            "message": reason, "type": "server_error", "param": null, "code": "upstream_failed",
        } }));
    }
}

/// Gives a call other arguments.
pub(super) fn rewrite(call: &mut Value, input: &Value) {
    if call["custom"].is_object() {
        let text = input["input"].as_str().map_or_else(|| input.to_string(), str::to_owned);
        call["custom"]["input"] = text.into();
    } else {
        call["function"]["arguments"] = input.to_string().into();
    }
}

/// Says that the turn has ended if none of its tool calls is left.
pub(super) fn settle_reason(choice: &mut Value, has_calls: bool, has_denied: bool) {
    if has_denied && !has_calls && choice["finish_reason"] == "tool_calls" {
        choice["finish_reason"] = "stop".into();
    }
}
