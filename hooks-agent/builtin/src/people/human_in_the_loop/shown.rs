//! The tool calls of one call that people let run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_agent_core::message::ToolUse;

/// The tool calls of one call that people let run, with the arguments that they approved or gave.
#[derive(Default)]
pub(super) struct Shown(Mutex<Vec<ToolUse>>);

impl Shown {
    /// Notes what a person lets run. The first entry of an id stays until its call has a result.
    pub(super) fn add(&self, call: &ToolUse) {
        let mut calls = self.lock();
        if calls.iter().all(|known| known.id != call.id) {
            calls.push(call.clone());
        }
    }

    /// Removes a tool call that has a result: the model may use its id again.
    pub(super) fn remove(&self, id: &str) {
        self.lock().retain(|call| call.id != id);
    }

    /// Returns whether this tool call is one that a person let run, or `None` if none of this id is.
    pub(super) fn is_shown(&self, running: &ToolUse) -> Option<bool> {
        let calls = self.lock();
        let shown = calls.iter().find(|call| call.id == running.id)?;
        Some(shown.equals_but_hidden(running))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ToolUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
