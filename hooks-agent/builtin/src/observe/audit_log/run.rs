//! The state of a running call.

use serde_json::Value;

use hooks_agent_core::message::{Msg, ToolUse};

#[derive(Default)]
pub(super) struct Run {
    /// Whether the model was asked, and has not answered yet.
    pub(super) is_asked: bool,
    /// The tool calls of the last answer, as the model wrote them.
    calls: Vec<ToolUse>,
}

impl Run {
    pub(super) fn answered(&mut self, msg: &Msg) {
        self.is_asked = false;
        self.calls = msg.tool_uses().cloned().collect();
    }

    /// Returns the call of this id, as the model wrote it.
    pub(super) fn written(&self, id: &str) -> Option<&ToolUse> {
        self.calls.iter().find(|call| call.id == id)
    }
}

/// Returns the keys at which the inputs differ. The values may be secrets that hooks added.
pub(super) fn changed_keys(written: &Value, ran: &Value) -> Vec<String> {
    let (Some(written), Some(ran)) = (written.as_object(), ran.as_object()) else {
        return if written == ran { Vec::new() } else { vec![String::new()] };
    };
    let changed = written.iter().filter(|(key, value)| ran.get(*key) != Some(value));
    let added = ran.keys().filter(|key| !written.contains_key(*key));
    changed.map(|(key, _)| key).chain(added).cloned().collect()
}
