//! The messages that memory keeps of an unfinished call.
//!
//! An answer is unfinished until all hooks of its event have run. If the call fails or panics, memory
//! keeps nothing of it. If the call is interrupted or dropped, memory keeps its text, provided that no
//! hook was to see the answer; otherwise a marker without the text.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_core::Hookable;

use crate::call::{CallContext, Unfinished};
use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{ContentBlock, Msg};
use crate::react::agent::ReActAgent;
use crate::round::Reasoned;

/// The text that stands for an answer that hooks have not seen.
const MARKER: &str = "[the answer was interrupted]";

/// Keeps the messages of a call that fails, so that the next call may repeat them.
pub(super) struct KeepInput<'a> {
    cx: &'a CallContext,
    memory: &'a Memory,
    /// The number of messages without an answer.
    unanswered: AtomicUsize,
}

impl<'a> KeepInput<'a> {
    pub(super) fn new(cx: &'a CallContext, memory: &'a Memory, count: usize) -> Self {
        cx.keep_unanswered(memory, count);
        Self { cx, memory, unanswered: AtomicUsize::new(count) }
    }

    /// Returns whether the messages have no answer yet: the caller may repeat them.
    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) > 0
    }

    /// Notes that memory has an answer to the messages.
    pub(super) fn answered(&self) {
        let count = self.unanswered.load(Ordering::Relaxed);
        self.unanswered.store(0, Ordering::Relaxed);
        if count > 0 {
            self.cx.keep_unanswered(self.memory, 0);
        }
    }
}

impl Drop for KeepInput<'_> {
    fn drop(&mut self) {
        let count = self.unanswered.load(Ordering::Relaxed);
        if count > 0 {
            self.memory.set_unanswered(count);
        }
    }
}

/// Appends what is kept of an unfinished answer to memory, when the call is dropped or interrupted.
pub(super) struct KeepAnswer<'a> {
    agent: &'a ReActAgent,
    cx: &'a CallContext,
    input: &'a KeepInput<'a>,
    /// Whether hooks see answers of this kind.
    is_seen_by_hooks: fn(&ReActAgent) -> bool,
    /// Whether there were such hooks at the start; a hook may remove itself.
    was_hooked: bool,
    is_passed: bool,
}

impl<'a> KeepAnswer<'a> {
    /// Watches over the answer of a round.
    pub(super) fn of_reasoning(
        agent: &'a ReActAgent,
        cx: &'a CallContext,
        input: &'a KeepInput<'a>,
    ) -> Self {
        Self::new(agent, cx, input, |agent| {
            agent.has_hooks(ReActAgent::POST_REASONING)
                || agent.has_hooks(ReActAgent::AROUND_REASONING)
                || agent.has_hooks(ReActAgent::AROUND_WHOLE_CALL)
        })
    }

    /// Watches over a summary.
    pub(super) fn of_summary(
        agent: &'a ReActAgent,
        cx: &'a CallContext,
        input: &'a KeepInput<'a>,
    ) -> Self {
        Self::new(agent, cx, input, |agent| {
            agent.has_hooks(ReActAgent::POST_SUMMARIZING)
                || agent.has_hooks(ReActAgent::AROUND_SUMMARIZING)
                || agent.has_hooks(ReActAgent::AROUND_WHOLE_CALL)
        })
    }

    fn new(
        agent: &'a ReActAgent,
        cx: &'a CallContext,
        input: &'a KeepInput<'a>,
        is_seen_by_hooks: fn(&ReActAgent) -> bool,
    ) -> Self {
        let was_hooked = is_seen_by_hooks(agent);
        // An answer that a hook asked for by itself is none of this call.
        cx.take_unfinished();
        Self { agent, cx, input, is_seen_by_hooks, was_hooked, is_passed: false }
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
            Unfinished::Partial(partial) if !self.was_hooked => partial,
            _ => return Some(self.marker()),
        };
        if (self.is_seen_by_hooks)(self.agent) {
            return Some(self.marker());
        }
        // Tool calls are removed: they get no result.
        Arc::make_mut(&mut partial)
            .content
            .retain(|block| !matches!(block, ContentBlock::ToolUse(_)));
        (!partial.content.iter().all(ContentBlock::is_empty)).then_some(partial)
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
            self.input.memory.add(kept.clone());
            self.cx.set_partial(kept);
        }
    }
}
