//! What memory keeps of a call that does not come to its end.
//!
//! An answer is unfinished until all hooks of its event have run. If the call fails or panics, memory
//! keeps nothing of it. If the call is interrupted or dropped, memory keeps its text, provided that no
//! hook was to see the answer; otherwise a marker without the text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_core::Hookable;

use crate::call::{CallContext, Unfinished};
use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{ContentBlock, Messages, Msg};
use crate::react::agent::ReActAgent;
use crate::react::run::Run;
use crate::round::Reasoned;

/// The text that stands for an answer that hooks have not seen.
const MARKER: &str = "[the answer was interrupted]";

/// Keeps the messages of a call that fails, so that the next call may repeat them.
pub(super) struct KeepInput<'a> {
    memory: &'a Memory,
    input: Messages,
    is_answered: AtomicBool,
}

impl<'a> KeepInput<'a> {
    pub(super) fn new(memory: &'a Memory, input: Messages) -> Self {
        let is_answered = AtomicBool::new(input.is_empty());
        Self { memory, input, is_answered }
    }

    /// Notes that memory has an answer to the messages.
    pub(super) fn answered(&self) {
        self.is_answered.store(true, Ordering::Relaxed);
    }
}

impl Drop for KeepInput<'_> {
    fn drop(&mut self) {
        if !self.is_answered.load(Ordering::Relaxed) {
            self.memory.set_unanswered(Some(std::mem::take(&mut self.input)));
        }
    }
}

/// Appends what is kept of an unfinished answer to memory, when the call is dropped or interrupted.
pub(super) struct KeepAnswer<'a> {
    agent: &'a ReActAgent,
    cx: &'a CallContext,
    memory: &'a Memory,
    input: &'a KeepInput<'a>,
    /// Whether hooks see answers of this kind.
    has_reviewers: fn(&ReActAgent) -> bool,
    /// Whether there were such hooks at the start; a hook may remove itself.
    had_reviewers: bool,
    is_passed: bool,
}

impl<'a> KeepAnswer<'a> {
    /// Watches over the answer of a round.
    pub(super) fn of_reasoning(run: &Run<'a>, input: &'a KeepInput<'a>) -> Self {
        Self::new(run, input, |agent| {
            agent.has_hooks(ReActAgent::POST_REASONING)
                || agent.has_hooks(ReActAgent::AROUND_REASONING)
        })
    }

    /// Watches over a summary.
    pub(super) fn of_summary(run: &Run<'a>, input: &'a KeepInput<'a>) -> Self {
        Self::new(run, input, |agent| {
            agent.has_hooks(ReActAgent::POST_SUMMARIZING)
                || agent.has_hooks(ReActAgent::AROUND_SUMMARIZING)
        })
    }

    fn new(
        run: &Run<'a>,
        input: &'a KeepInput<'a>,
        has_reviewers: fn(&ReActAgent) -> bool,
    ) -> Self {
        let Run { agent, cx, memory, .. } = *run;
        let had_reviewers = has_reviewers(agent);
        // An answer that a hook asked for by itself is none of this call.
        cx.take_unfinished();
        Self { agent, cx, memory, input, has_reviewers, had_reviewers, is_passed: false }
    }

    /// Notes that all hooks have run.
    pub(super) fn pass(
        mut self,
        reasoned: Result<Reasoned, AgentError>,
    ) -> Result<Reasoned, AgentError> {
        self.is_passed = true;
        self.cx.take_unfinished();
        // Error hooks have received it.
        self.cx.set_told(reasoned.is_err());
        reasoned
    }

    fn kept(&self) -> Option<Arc<Msg>> {
        let mut partial = match self.cx.take_unfinished() {
            Unfinished::Nothing => return None,
            Unfinished::Partial(partial) if !self.had_reviewers => partial,
            _ => return Some(self.marker()),
        };
        if (self.has_reviewers)(self.agent) {
            return Some(self.marker());
        }
        // Tool calls are removed: they get no result.
        Arc::make_mut(&mut partial)
            .content
            .retain(|block| !matches!(block, ContentBlock::ToolUse(_)));
        (!partial.content.is_empty()).then_some(partial)
    }

    fn marker(&self) -> Arc<Msg> {
        Arc::new(Msg::assistant(self.cx.agent_name(), MARKER))
    }
}

impl Drop for KeepAnswer<'_> {
    fn drop(&mut self) {
        if self.is_passed || std::thread::panicking() {
            return;
        }
        if let Some(kept) = self.kept() {
            self.input.answered();
            self.memory.add(kept.clone());
            self.cx.set_partial(kept);
        }
    }
}
