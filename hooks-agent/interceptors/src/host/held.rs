//! Events of a stream that wait for a verdict.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::{ContentBlock, Msg};
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::stream::{AgentEvent, AgentEventKind};

use crate::context::message::{remove_thinking, thinking_of};
use crate::context::output::{said_of, text_of};
use crate::host::interceptors::Output;

/// The calls that have a session: that of the outermost call, and those of its sub-agents.
#[derive(Clone, Default)]
pub(super) struct Covered(Arc<Mutex<HashSet<RunId>>>);

impl Covered {
    pub(super) fn add(&self, run: RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
    }

    fn has(&self, run: RunId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&run)
    }
}

/// The events of a call that have text, until a verdict covers it. Tool calls and their results pass: they have verdicts
/// of their own. Those of sub-agents have been released by their sessions; an agent without one, which takes no hooks of
/// its caller, has no verdicts about anything.
pub(super) struct Held {
    run: RunId,
    output: Output,
    covered: Covered,
    /// How many tools run.
    tools: AtomicUsize,
    state: Mutex<State>,
}

/// As long as it lives, warnings do not pass: a tool's have its content.
pub(super) struct WithoutWarnings<'a>(&'a Held);

impl Drop for WithoutWarnings<'_> {
    fn drop(&mut self) {
        self.0.tools.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct State {
    /// The events of the answer that may become the reply.
    events: Vec<AgentEvent>,
    permitted: Texts,
    /// What was sent of an answer as it came.
    sent: Texts,
    /// Whether a hook made something else of an answer than what was permitted.
    is_other: bool,
}

/// What an answer says.
#[derive(Default)]
struct Texts {
    text: String,
    thinking: String,
}

impl Held {
    pub(super) fn new(run: RunId, output: Output, covered: Covered) -> Self {
        Self { run, output, covered, tools: AtomicUsize::new(0), state: Mutex::default() }
    }

    pub(super) fn without_warnings(&self) -> WithoutWarnings<'_> {
        self.tools.fetch_add(1, Ordering::Relaxed);
        WithoutWarnings(self)
    }

    /// Begins another answer of a model.
    pub(super) fn begin_answer(&self) {
        let mut state = self.state();
        state.permitted = Texts::default();
        state.sent = Texts::default();
        state.is_other = false;
    }

    /// Notes what a verdict has released.
    pub(super) fn permit(&self, chunks: &[ChatChunk]) {
        let mut state = self.state();
        for chunk in chunks {
            match chunk {
                ChatChunk::Text(text) => state.permitted.text.push_str(text),
                ChatChunk::Thinking(text) => state.permitted.thinking.push_str(text),
                _ => {}
            }
        }
    }

    /// Returns an event that may be read now, without text that no verdict covers.
    pub(super) fn pass(&self, mut event: AgentEvent) -> Option<AgentEvent> {
        if event.run != self.run {
            return (self.covered.has(event.run) || !has_content(&event.kind)).then_some(event);
        }
        let mut state = self.state();
        match &mut event.kind {
            AgentEventKind::ReasoningStarted | AgentEventKind::SummaryStarted => {
                // An answer before it is not the reply.
                state.events.clear();
                Some(event)
            }
            AgentEventKind::ReasoningChunk(block) | AgentEventKind::SummaryChunk(block) => {
                let is_text = !matches!(block, ContentBlock::ToolUse(_));
                if !is_text || self.output != Output::Buffered && state.is_permitted(block) {
                    return Some(event);
                }
                state.events.push(event);
                None
            }
            AgentEventKind::Reasoned(msg) | AgentEventKind::Summarized(msg) => {
                if msg.tool_uses().next().is_none() {
                    state.events.push(event);
                    return None;
                }
                state.events.clear();
                let is_covered = self.output != Output::Buffered && state.has_sent(msg);
                if !is_covered {
                    let msg = Arc::make_mut(msg);
                    msg.content.retain(|block| !matches!(block, ContentBlock::Text { .. }));
                    remove_thinking(&mut msg.content);
                }
                Some(event)
            }
            AgentEventKind::Warning { .. } if self.tools.load(Ordering::Relaxed) > 0 => None,
            _ => Some(event),
        }
    }

    /// Returns the events of the reply, as its verdict has left it.
    pub(super) fn release(&self, reply: &Msg) -> Vec<AgentEvent> {
        let mut state = self.state();
        let events = std::mem::take(&mut state.events);
        let Some((last, chunks)) = events.split_last() else { return events };
        let (AgentEventKind::Reasoned(msg) | AgentEventKind::Summarized(msg)) = &last.kind else {
            return Vec::new();
        };
        let is_summary = matches!(last.kind, AgentEventKind::Summarized(_));
        let is_same = *msg.content == *reply.content;
        if is_same && state.said_with(chunks) == said_of(&reply.content) {
            return events;
        }
        let text = text_of(&reply.content);
        let mut msg = Msg::clone(msg);
        msg.content.clone_from(&reply.content);
        msg.metadata.clone_from(&reply.metadata);
        let block = ContentBlock::text(&text);
        let with = |kind| {
            let mut event = last.clone();
            event.kind = kind;
            event
        };
        let mut released = Vec::new();
        // Text that was sent as it came is not sent again.
        if !text.is_empty() && state.sent.text.is_empty() {
            released.push(with(if is_summary {
                AgentEventKind::SummaryChunk(block)
            } else {
                AgentEventKind::ReasoningChunk(block)
            }));
        }
        released.push(with(if is_summary {
            AgentEventKind::Summarized(Arc::new(msg))
        } else {
            AgentEventKind::Reasoned(Arc::new(msg))
        }));
        released
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether an event says something of what an agent reads or writes.
fn has_content(kind: &AgentEventKind) -> bool {
    !matches!(
        kind,
        AgentEventKind::Queued { .. }
            | AgentEventKind::Started
            | AgentEventKind::ReasoningStarted
            | AgentEventKind::SummaryStarted
            | AgentEventKind::Failed { .. }
            | AgentEventKind::Lagged { .. }
    )
}

impl State {
    /// Returns whether a verdict covers the next block of an answer: it is what was permitted next.
    fn is_permitted(&mut self, block: &ContentBlock) -> bool {
        let (permitted, sent, more) = match block {
            ContentBlock::Text { text } => (&self.permitted.text, &mut self.sent.text, text),
            ContentBlock::Thinking { thinking, .. } => {
                (&self.permitted.thinking, &mut self.sent.thinking, thinking)
            }
            _ => return false,
        };
        let rest = permitted.get(sent.len()..).unwrap_or_default();
        if self.is_other || !rest.starts_with(&**more) {
            self.is_other = true;
            return false;
        }
        sent.push_str(more);
        true
    }

    /// Returns whether a message says what was sent.
    fn has_sent(&self, msg: &Msg) -> bool {
        !self.is_other
            && said_of(&msg.content) == self.sent.text
            && thinking_of(&msg.content) == self.sent.thinking
    }

    /// Returns the text that was sent, with that of the chunks that wait.
    fn said_with(&self, chunks: &[AgentEvent]) -> String {
        let mut said = self.sent.text.clone();
        for event in chunks {
            if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text })
            | AgentEventKind::SummaryChunk(ContentBlock::Text { text }) = &event.kind
            {
                said.push_str(text);
            }
        }
        said
    }
}
