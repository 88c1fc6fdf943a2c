//! State of the hook for one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::error::ErrorKind;
use hooks_agent_core::message::{Msg, ToolUse};
use serde_json::Value;

/// State of the hook for one call.
#[derive(Default)]
pub(super) struct Run(Mutex<State>);

#[derive(Default)]
struct State {
    /// The tool calls that have not ended, as redactors left them.
    calls: HashMap<String, ToolUse>,
    /// The kind of the last error.
    error: Option<ErrorKind>,
    reply: Option<Arc<Msg>>,
}

impl Run {
    /// Keeps a tool call until it ends.
    pub(super) fn keep_call(&self, call: &ToolUse) {
        self.lock().calls.insert(call.id.clone(), call.clone().without_hidden());
    }

    /// Returns a tool call as redactors left it before it started: a vault may have put data back since.
    /// One that nobody saw has no arguments.
    pub(super) fn shown(&self, ToolUse { id, name, .. }: &ToolUse) -> ToolUse {
        let kept = self.lock().calls.get(id).cloned();
        kept.unwrap_or_else(|| ToolUse::new(id.clone(), name.clone(), Value::Null))
    }

    pub(super) fn forget_call(&self, id: &str) {
        self.lock().calls.remove(id);
    }

    pub(super) fn set_reply(&self, reply: &Msg) {
        self.lock().reply = Some(Arc::new(reply.clone()));
    }

    pub(super) fn reply(&self) -> Option<Arc<Msg>> {
        self.lock().reply.clone()
    }

    pub(super) fn set_error(&self, kind: ErrorKind) {
        self.lock().error = Some(kind);
    }

    /// Returns the kind of the last error.
    pub(super) fn error(&self) -> ErrorKind {
        self.lock().error.unwrap_or(ErrorKind::Other)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
