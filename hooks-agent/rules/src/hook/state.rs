//! What the hook knows of one call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{Msg, ToolUse};

/// What the hook knows of one call.
#[derive(Default)]
pub(super) struct State {
    round: AtomicUsize,
    /// How many tool calls the last answer has; 0 if it was given before the call.
    batch: AtomicUsize,
    answered: Mutex<Vec<Answered>>,
}

/// What people let run, and the texts that they read.
struct Answered {
    call: ToolUse,
    texts: Vec<String>,
}

impl State {
    /// Begins a round with the answer of the model.
    pub(super) fn begin(&self, message: &Msg) {
        self.round.fetch_add(1, Ordering::Relaxed);
        self.batch.store(message.tool_uses().count(), Ordering::Relaxed);
    }

    /// Returns the number of the round, from 1.
    pub(super) fn round(&self) -> usize {
        self.round.load(Ordering::Relaxed).max(1)
    }

    /// Returns whether the answer may have other tool calls.
    pub(super) fn has_others(&self, cx: &CallContext) -> bool {
        match self.batch.load(Ordering::Relaxed) {
            0 => cx.memory().is_none_or(|memory| {
                let messages = memory.messages();
                let mut last = messages.iter().rev().map(|msg| msg.tool_uses().count());
                last.find(|count| *count > 0) != Some(1)
            }),
            count => count > 1,
        }
    }

    /// Notes that people let a tool call run for these texts.
    pub(super) fn answer(&self, call: &ToolUse, texts: Vec<String>) {
        let mut answered = self.lock();
        answered.retain(|it| it.call.id != call.id);
        if !texts.is_empty() {
            answered.push(Answered { call: call.clone(), texts });
        }
    }

    /// Returns whether people let this tool call run for this rule, as it runs.
    pub(super) fn is_answered(&self, running: &ToolUse, text: &str) -> bool {
        let answered = self.lock();
        let own = answered.iter().find(|it| it.call.id == running.id);
        own.is_some_and(|it| {
            it.texts.iter().any(|it| it == text) && it.call.equals_but_hidden(running)
        })
    }

    /// Forgets a tool call that has a result: the model may use its id again.
    pub(super) fn forget(&self, id: &str) {
        self.lock().retain(|it| it.call.id != id);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Answered>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
