//! The stream of a call.

use std::borrow::Cow;
use std::sync::Arc;

use crate::call::context::{Call, CallContext};
use crate::call::stream::{AgentEvent, AgentEventKind, Behind, EventSink};
use crate::message::{ContentBlock, Msg};

impl CallContext {
    /// Sends a warning to the people who watch the call: an event of its stream. The model does not read
    /// it.
    pub fn warn(&self, text: impl Into<String>) {
        if self.events.is_some() {
            self.emit_now(AgentEventKind::Warning { text: text.into() });
        }
    }

    /// Returns the same context with a filter on the events of its stream: the closure changes an
    /// event, or drops it by returning `None`.
    ///
    /// An around hook of `reply` that replaces `args.cx` with it receives the events of the call,
    /// an inner hook before an outer one. The first and the last event of the call are sent outside
    /// of `reply`, so the hook does not receive them.
    #[must_use]
    pub fn map_events(
        &self,
        map: impl Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync + 'static,
    ) -> Self {
        let mapped = |sink: EventSink| EventSink::Mapped(Arc::new(map), Arc::new(sink));
        Self { events: self.events.clone().map(mapped), ..self.clone() }
    }

    /// Sends an event to the stream and waits until it is read: one that a hook
    /// [held back](crate::hook::NextCall::run_with_events). A call without a stream drops it.
    pub async fn send_event(&self, event: AgentEvent) {
        if let Some(events) = &self.events {
            Box::pin(events.send(event)).await;
        }
    }

    /// Has what the agent answers in this call wait for a verdict at its end, as a hook around the
    /// [whole call](crate::hook::AgentCall) gives it: hooks receive no chunks of text, and those that show answers
    /// elsewhere, such as a log, leave their text out.
    pub fn hold_answers(&self) {
        self.call.marks.holds_answers.set(true);
    }

    /// Returns whether what the agent answers [waits](Self::hold_answers) for a verdict.
    #[must_use]
    pub fn holds_answers(&self) -> bool {
        self.call.marks.holds_answers.is_set()
    }

    /// Returns an answer as a hook may show it elsewhere: without its text while answers
    /// [wait](Self::hold_answers) for a verdict.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// let log = on(|event: &mut PostCall<'_>| {
    ///     let shown = event.context().shown_answer(event.final_message());
    ///     println!("{}", shown.text());
    /// });
    /// # let _ = log;
    /// ```
    #[must_use]
    pub fn shown_answer<'m>(&self, answer: &'m Msg) -> Cow<'m, Msg> {
        if !self.holds_answers() {
            return Cow::Borrowed(answer);
        }
        let mut shown = answer.clone();
        shown.content.retain(|block| matches!(block, ContentBlock::ToolUse(_)));
        shown.metadata.clear();
        Cow::Owned(shown)
    }

    /// Returns whether the call has a stream.
    #[must_use]
    pub fn has_stream(&self) -> bool {
        self.events.is_some()
    }

    /// Sends an event to the stream. `kind` runs only if the call has one.
    pub(crate) async fn emit(&self, kind: impl FnOnce() -> AgentEventKind) {
        let Some(events) = &self.events else { return };
        let kind = kind();
        if !self.replays(kind.tool_call_id()) {
            // Boxed, so that the futures of calls without a stream stay small.
            Box::pin(events.send(self.stream_event(kind))).await;
        }
    }

    /// Sends an event to the stream, for a call that cannot wait.
    pub(crate) fn emit_now(&self, kind: AgentEventKind) {
        if let Some(events) = self.events.as_ref().filter(|_| !self.replays(kind.tool_call_id())) {
            events.send_now(self.stream_event(kind));
        }
    }

    /// Tells the stream that the call waits for its turn.
    pub(crate) fn queued(&self, behind: Behind) {
        if self.events.is_some() {
            self.emit_now(AgentEventKind::Queued { thread: self.thread_id().into(), behind });
        }
    }

    fn stream_event(&self, kind: AgentEventKind) -> AgentEvent {
        let Call { run, agent_name, parent, .. } = &*self.call;
        let parent = parent.as_ref().map(CallContext::run_id);
        let tool_call = parent.and_then(|_| self.shared_tool_call_id().cloned());
        AgentEvent { agent: agent_name.clone(), run: *run, parent, tool_call, thread: None, kind }
    }

    /// Returns whether the call has a stream.
    pub(crate) fn is_watched(&self) -> bool {
        self.events.is_some()
    }
}
