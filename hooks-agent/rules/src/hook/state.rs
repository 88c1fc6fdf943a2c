//! The state of the hook in one call: rounds, and answers of people.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{Msg, ToolUse};

/// What the hook knows of one call.
#[derive(Default)]
pub(super) struct State {
    round: AtomicUsize,
    /// How many tool calls the last answer has; 0 if it was given before the call.
    batch: AtomicUsize,
    /// Whether the call has begun with a tool call of an earlier answer.
    is_resumed: AtomicBool,
    /// Whether the agent runs tools in turn.
    in_turn: AtomicBool,
    answered: Mutex<Vec<Answered>>,
    /// The rules in shadow that were reported of tool calls.
    reported: Mutex<HashSet<(String, String)>>,
}

/// What people let run, and the texts that they read.
struct Answered {
    call: ToolUse,
    texts: Vec<String>,
}

impl State {
    /// Begins a round with the answer of the model.
    pub(super) fn begin(&self, message: &Msg, agent: &dyn Agent) {
        self.round.fetch_add(1, Ordering::Relaxed);
        self.batch.store(message.tool_uses().count(), Ordering::Relaxed);
        self.in_turn.store(!agent.runs_tools_at_once(), Ordering::Relaxed);
    }

    /// Notes that a tool call is next.
    pub(super) fn next(&self, agent: &dyn Agent) {
        if self.round.load(Ordering::Relaxed) == 0 {
            self.is_resumed.store(true, Ordering::Relaxed);
            self.in_turn.store(!agent.runs_tools_at_once(), Ordering::Relaxed);
        }
    }

    /// Returns the number of the round, from 1, unless earlier ones are not known.
    pub(super) fn round(&self) -> Option<usize> {
        let is_known = !self.is_resumed.load(Ordering::Relaxed);
        is_known.then(|| self.round.load(Ordering::Relaxed).max(1))
    }

    /// Returns whether other tool calls of the answer may run at the same time. Of an agent that is not known, they
    /// may.
    pub(super) fn is_at_once(&self, cx: &CallContext) -> bool {
        if self.in_turn.load(Ordering::Relaxed) {
            return false;
        }
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

    /// Returns whether a rule in shadow was not reported of a tool call before, and notes that it is.
    pub(super) fn is_new(&self, id: &str, rule: &str) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.insert((id.to_owned(), rule.to_owned()))
    }

    /// Forgets a tool call that has a result: the model may use its id again.
    pub(super) fn forget(&self, id: &str) {
        self.lock().retain(|it| it.call.id != id);
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.retain(|(call, _)| call != id);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Answered>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
