//! A run, without a transport.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use hooks_agent_core::call::RunId;
use hooks_agent_core::stream::{AgentEvent, AgentEventKind, AgentStream};
use tokio::sync::OwnedMutexGuard;

use crate::admit::Idle;
use crate::protocol::Event;
use crate::timestamp::now;
use crate::transcript::Transcript;

/// The events of a run. The last one [is](Event::is_last) `RUN_FINISHED` or `RUN_ERROR`.
///
/// The agent runs while the stream is polled. Dropping the stream cancels the call;
/// [`Settled`](hooks_agent_core::event::Settled) still fires.
#[must_use = "the call runs while the stream is read"]
pub struct RunEvents {
    /// Dropped before the turn.
    stream: Option<AgentStream<'static>>,
    transcript: Transcript,
    ready: VecDeque<Event>,
    /// The turn on the thread: the next request reads it when this one is over.
    _turn: OwnedMutexGuard<()>,
}

impl RunEvents {
    pub(super) fn new(
        stream: AgentStream<'static>,
        transcript: Transcript,
        turn: OwnedMutexGuard<()>,
    ) -> Self {
        Self { stream: Some(stream), transcript, ready: VecDeque::new(), _turn: turn }
    }

    /// Creates a run that has nothing to do: the client gets the conversation, and what waits.
    pub(super) fn idle(
        mut transcript: Transcript,
        waiting: &Idle,
        agent: &str,
        run: RunId,
        turn: OwnedMutexGuard<()>,
    ) -> Self {
        let started = AgentEvent::new(agent, run, AgentEventKind::Started);
        let mut events = transcript.of(started);
        transcript.finish_at_once(waiting, &mut events);
        let mut this = Self { stream: None, transcript, ready: VecDeque::new(), _turn: turn };
        this.add(events);
        this
    }

    fn add(&mut self, events: Vec<Event>) {
        let stamped = |event| Event { timestamp: Some(now()), ..event };
        self.ready.extend(events.into_iter().map(stamped));
    }
}

impl Stream for RunEvents {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            let Some(stream) = &mut this.stream else { return Poll::Ready(None) };
            let next = catch_unwind(AssertUnwindSafe(|| Pin::new(stream).poll_next(cx)));
            let events = match next {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(Some(Ok(event)))) => this.transcript.of(event),
                Ok(Poll::Ready(Some(Err(error)))) => {
                    tracing::warn!(
                        target: "hooks_agent::ag_ui",
                        error = &error as &dyn std::error::Error, "a run failed"
                    );
                    this.transcript.fail(Some(&error))
                }
                Ok(Poll::Ready(None)) => {
                    this.stream = None;
                    Vec::new()
                }
                Err(_) => {
                    this.stream = None;
                    tracing::warn!(target: "hooks_agent::ag_ui", "a run panicked");
                    this.transcript.fail(None)
                }
            };
            this.add(events);
        }
    }
}

impl fmt::Debug for RunEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunEvents").field("ready", &self.ready).finish_non_exhaustive()
    }
}
