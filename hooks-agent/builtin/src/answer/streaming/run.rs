//! The state that the hook keeps of a call.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use hooks_agent_core::message::{ContentBlock, Msg, ToolUse};

/// What the hook keeps of a call.
#[derive(Default)]
pub(super) struct Run(Mutex<State>);

#[derive(Default)]
struct State {
    /// The arguments of tool calls that have not ended, as redactors left them.
    inputs: HashMap<String, Value>,
    /// The kind of the last error.
    error: Option<&'static str>,
    /// The last reply that was passed on.
    reply: Option<Vec<ContentBlock>>,
}

impl Run {
    /// Keeps the arguments of a tool call until it ends.
    pub(super) fn keep_input(&self, call: &ToolUse) {
        self.lock().inputs.insert(call.id.clone(), call.input.clone());
    }

    /// Returns the arguments of a tool call; null, if nobody saw it before it started.
    pub(super) fn input(&self, id: &str) -> Value {
        self.lock().inputs.get(id).cloned().unwrap_or_default()
    }

    pub(super) fn forget_input(&self, id: &str) {
        self.lock().inputs.remove(id);
    }

    pub(super) fn set_reply(&self, reply: &Msg) {
        self.lock().reply = Some(reply.content.clone());
    }

    /// Returns whether the last reply that was passed on has this content.
    pub(super) fn has_reply(&self, reply: &Msg) -> bool {
        self.lock().reply.as_ref() == Some(&reply.content)
    }

    pub(super) fn set_error(&self, kind: &'static str) {
        self.lock().error = Some(kind);
    }

    /// Returns the kind of the last error.
    pub(super) fn error(&self) -> &'static str {
        self.lock().error.unwrap_or("Error")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
