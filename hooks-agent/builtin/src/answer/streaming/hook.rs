//! The hook that passes events on.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::ErrorKind;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent, Settled};
use hooks_agent_core::hook::{AgentHook, AroundMask, NextTool, ToolCall};
use hooks_agent_core::message::{Msg, ToolResult};
use hooks_agent_core::stream::{AgentEvent, AgentEventKind};
use hooks_agent_core::tool::ToolError;
use hooks_core::{HookResult, HookRole};

use crate::answer::streaming::queue::Queue;
use crate::answer::streaming::receiver::{SseReceiver, StreamReceiver};
use crate::answer::streaming::run::Run;
use crate::answer::streaming::selection::Selection;
use crate::answer::streaming::sink::{Sender, Sink, Slow};
use crate::answer::streaming::stream_type::StreamType;

/// Passes on what an agent does while it does it, as [events](AgentEvent) to a channel, server-sent events,
/// or a callback. It is the hook form of an [`AgentStream`](hooks_agent_core::stream::AgentStream), for a
/// reader who does not hold the agent.
///
/// One hook serves many agents, their sub-agents and calls that overlap: each event has its agent, run,
/// parent and [thread](AgentEvent::thread), and events of one run stay in order. Of the kinds of events it
/// passes on chunks of answers and summaries, and starts, progress and results of tools. The last event of
/// a run is [`Finished`](AgentEventKind::Finished) with the reply that the caller gets, or
/// [`Failed`](AgentEventKind::Failed) for a call that failed, was interrupted, dropped, or panicked.
///
/// | setting | default |
/// |---|---|
/// | [`only`](Self::only) | all types |
/// | [`accumulated`](Self::accumulated) | text and thoughts as they arrive |
/// | [`slow`](Self::slow) | [`Slow::Wait`] |
///
/// A reader that is dropped costs the calls nothing, and neither it nor a callback that panics fails
/// one; the panic is reported through `tracing`.
///
/// Of a call with a [journal](https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html), what a run replays is not passed on again,
/// but for the end, which each run has.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY), and the role [`Observes`](HookRole::Observes): what
/// redactors of a lower priority remove is not in it, and a plan warns of redactors of a higher one.
/// Chunks are as a [`Rewrite`](hooks_agent_core::hook::Rewrite) around the model call leaves them. Of an error, only
/// the kind is passed on. It is inherited, so that events of sub-agents are there too.
///
/// It does not protect from a reader that shows texts before a guard of `PostReasoning` refuses them:
/// chunks come before that event.
///
/// ```
/// use hooks_agent::builtin::answer::{StreamType, Streaming};
/// use hooks_agent::prelude::*;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let (streaming, mut events) = Streaming::to_channel(16);
/// let streaming = streaming.only([StreamType::Text]);
/// let model = ScriptedModel::new("words", |_| "one two");
/// let agent = ReActAgent::builder("bot").model(model).hook(streaming).build()?;
/// let reader = tokio::spawn(async move {
///     let mut seen = Vec::new();
///     while let Some(event) = events.recv().await {
///         match event.kind {
///             AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => seen.push(text),
///             AgentEventKind::Finished(reply) => seen.push(reply.text()),
///             _ => {}
///         }
///     }
///     seen
/// });
/// agent.call("Count").await?;
/// drop(agent);
/// assert_eq!(reader.await.unwrap(), ["one ", "two", "one two"]);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Streaming {
    sink: Sink,
    selection: Selection,
    slow: Slow,
}

impl Streaming {
    /// The default priority: after redactors, before what writes logs of everything.
    pub const PRIORITY: i32 = 650;

    /// Creates a hook and the reader of its events. `capacity` is how many events wait to be read, at
    /// least 1.
    pub fn to_channel(capacity: usize) -> (Self, StreamReceiver) {
        let queue = Arc::new(Queue::new(capacity));
        let sender = Arc::new(Sender(queue.clone()));
        (Self::to(Sink::Channel(sender)), StreamReceiver::new(queue))
    }

    /// Creates a hook and the reader of its events as server-sent events.
    ///
    /// ```
    /// use hooks_agent::builtin::answer::{Slow, Streaming};
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let (streaming, mut body) = Streaming::to_sse(64);
    /// let model = ScriptedModel::new("words", |_| "one");
    /// let agent = ReActAgent::builder("bot").model(model).hook(streaming.slow(Slow::Drop)).build()?;
    /// agent.call("Count").await?;
    /// let first = body.recv().await.unwrap();
    /// assert!(first.starts_with("event: reasoning_chunk\ndata: {") && first.ends_with("}\n\n"));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn to_sse(capacity: usize) -> (Self, SseReceiver) {
        let (streaming, events) = Self::to_channel(capacity);
        (streaming, SseReceiver::new(events))
    }

    /// Creates a hook that passes its events to a closure. The call waits for the closure, which should
    /// return at once.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use hooks_agent::builtin::answer::Streaming;
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let (shown, screen) = mpsc::channel();
    /// let streaming = Streaming::to_callback(move |event| {
    ///     if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.kind {
    ///         // The screen may be gone.
    ///         let _ = shown.send(text);
    ///     }
    /// });
    /// let model = ScriptedModel::new("words", |_| "one two");
    /// let agent = ReActAgent::builder("bot").model(model).hook(streaming).build()?;
    /// agent.call("Count").await?;
    /// assert_eq!(screen.try_iter().collect::<String>(), "one two");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn to_callback(callback: impl Fn(AgentEvent) + Send + Sync + 'static) -> Self {
        Self::to(Sink::Callback(Arc::new(callback)))
    }

    fn to(sink: Sink) -> Self {
        Self { sink, selection: Selection::all(), slow: Slow::default() }
    }

    /// Passes on events of these types only, and the end of each call.
    pub fn only(mut self, types: impl IntoIterator<Item = StreamType>) -> Self {
        self.selection.select(types);
        self
    }

    /// Passes on all of the text, or of the thoughts, of an answer so far, instead of what arrived.
    pub fn accumulated(mut self) -> Self {
        self.selection.accumulates = true;
        self
    }

    /// Sets what happens when events are not read as fast as they come.
    pub fn slow(mut self, slow: Slow) -> Self {
        self.slow = slow;
        self
    }

    fn run(&self, cx: &CallContext) -> Arc<Run> {
        cx.hook_state(self.sink.number())
    }

    /// Passes on how a call ended. It cannot wait.
    fn settle(&self, event: &Settled<'_>) {
        if self.sink.is_over() {
            return;
        }
        let (cx, run) = (event.context(), self.run(event.context()));
        let failed = |kind| AgentEventKind::Failed { kind };
        let kind = match event.outcome() {
            CallOutcome::Finished(_) => {
                // One that a hook supplied after `PostCall`, else that of `PostCall`.
                let reply = event.recovered_reply().or_else(|| run.reply());
                let reply = reply.unwrap_or_else(|| Arc::new(Msg::assistant(cx.agent_name(), "")));
                AgentEventKind::Finished(reply)
            }
            CallOutcome::Failed(_) => failed(run.error()),
            CallOutcome::Interrupted => failed(ErrorKind::Interrupted),
            CallOutcome::Cancelled => failed(ErrorKind::Cancelled),
            CallOutcome::Panicked => failed(ErrorKind::Panicked),
            _ => failed(ErrorKind::Other),
        };
        self.sink.send_now(event_of(cx, kind));
    }

    /// Returns the event that is passed on, if there is one and somebody reads.
    fn passed(&self, event: &HookEvent<'_>) -> Option<AgentEvent> {
        if self.sink.is_over() {
            return None;
        }
        let kind = self.selection.kind_of(event, || self.run(event.context()));
        // A replayed event is kept for what follows it; an earlier run passed it on.
        let kind = kind.filter(|_| !event.is_replayed())?;
        Some(event_of(event.context(), kind))
    }
}

/// Returns an event of a call.
fn event_of(cx: &CallContext, kind: AgentEventKind) -> AgentEvent {
    let mut event = AgentEvent::new(cx.agent_name(), cx.run_id(), kind);
    event.parent = cx.parent().map(CallContext::run_id);
    event.tool_call = event.parent.and_then(|_| cx.tool_call_id()).map(Arc::from);
    event.thread = Some(cx.thread_id().into());
    event
}

impl AgentHook for Streaming {
    fn priority(&self) -> i32 {
        Self::PRIORITY
    }

    fn events(&self) -> EventMask {
        self.selection.events()
    }

    fn sync_events(&self) -> EventMask {
        const NEVER_WAIT: EventMask = EventMask::of(&[
            EventKind::PreActing,
            EventKind::PostCall,
            EventKind::Error,
            EventKind::Settled,
        ]);
        match (&self.sink, self.slow) {
            (Sink::Channel(_), Slow::Wait) => NEVER_WAIT & self.events(),
            _ => self.events(),
        }
    }

    fn answers(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        let has_starts = self.selection.passes(StreamType::ToolStarted);
        if has_starts { AroundMask::TOOL_CALL } else { AroundMask::NONE }
    }

    fn answers_around(&self) -> AroundMask {
        AroundMask::NONE
    }

    fn inherit(&self) -> bool {
        true
    }

    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Observes)
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let Some(passed) = self.passed(event) {
            self.sink.send(passed, self.slow).await;
        }
        Ok(Flow::Continue)
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let HookEvent::Settled(event) = event {
            self.settle(event);
        } else if let Some(passed) = self.passed(event) {
            self.sink.send_now(passed);
        }
        Ok(Flow::Continue)
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        if !self.sink.is_over() && !call.context().is_replaying() {
            let cx = call.context();
            let shown = self.run(cx).shown(call.tool_use());
            let event = event_of(cx, AgentEventKind::ToolStarted(shown));
            self.sink.send(event, self.slow).await;
        }
        next.run(call.into_tool_use()).await
    }
}

impl fmt::Debug for Streaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streaming")
            .field("selection", &self.selection)
            .field("slow", &self.slow)
            .finish_non_exhaustive()
    }
}
