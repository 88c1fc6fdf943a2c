//! The reading ends.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;
use hooks_agent_core::stream::AgentEvent;

use crate::answer::streaming::queue::Queue;

/// The events of a [`Streaming`](crate::answer::Streaming), as a stream. It ends when no agent
/// has the hook any more. Dropping it ends the stream; calls go on without it.
#[must_use = "calls wait for it to be read"]
pub struct StreamReceiver {
    queue: Arc<Queue>,
}

impl StreamReceiver {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        Self { queue }
    }

    /// Waits for the next event. Returns `None` when no agent has the hook any more. Dropping the future
    /// loses nothing.
    pub async fn recv(&mut self) -> Option<AgentEvent> {
        poll_fn(|cx| self.queue.poll(cx)).await
    }

    /// Returns the next event, if there is one now.
    pub fn try_recv(&mut self) -> Option<AgentEvent> {
        self.queue.try_pop()
    }
}

impl Stream for StreamReceiver {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.queue.poll(cx)
    }
}

impl Drop for StreamReceiver {
    fn drop(&mut self) {
        self.queue.close_reader();
    }
}

impl fmt::Debug for StreamReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReceiver").finish_non_exhaustive()
    }
}

/// The events of a [`Streaming`](crate::answer::Streaming) as texts of server-sent events, each
/// [complete](AgentEvent::to_sse): the body of an HTTP response of the type `text/event-stream`.
#[derive(Debug)]
#[must_use = "calls wait for it to be read"]
pub struct SseReceiver {
    events: StreamReceiver,
}

impl SseReceiver {
    pub(super) fn new(events: StreamReceiver) -> Self {
        Self { events }
    }

    /// Waits for the next event. Returns `None` when no agent has the hook any more.
    pub async fn recv(&mut self) -> Option<String> {
        Some(self.events.recv().await?.to_sse())
    }
}

impl Stream for SseReceiver {
    type Item = String;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>> {
        self.events.queue.poll(cx).map(|event| event.as_ref().map(AgentEvent::to_sse))
    }
}
