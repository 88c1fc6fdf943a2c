//! Where the events go.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_agent_core::stream::AgentEvent;

use crate::answer::streaming::queue::Queue;

/// What happens when events are not read as fast as they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Slow {
    /// The calls wait until there is room. Another task has to read.
    #[default]
    Wait,
    /// Chunks are dropped, and the reader gets [`Lagged`](hooks_agent_core::stream::AgentEventKind::Lagged)
    /// before the next event of the call. Other events stay in the queue, beyond its capacity.
    Drop,
}

/// Where the events go.
#[derive(Clone)]
pub(super) enum Sink {
    Channel(Arc<Sender>),
    Callback(Arc<dyn Fn(AgentEvent) + Send + Sync>),
}

/// The sending end of a queue.
pub(super) struct Sender(pub(super) Arc<Queue>);

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.close_writer();
    }
}

impl Sink {
    /// Returns a number of the sink, which its clones share.
    pub(super) fn number(&self) -> usize {
        match self {
            Self::Channel(sender) => Arc::as_ptr(sender).addr(),
            Self::Callback(callback) => Arc::as_ptr(callback).addr(),
        }
    }

    /// Returns whether nobody reads any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Channel(sender) if sender.0.has_no_reader())
    }

    /// Passes an event on, by waiting for room if the reader is waited for.
    pub(super) async fn send(&self, event: AgentEvent, slow: Slow) {
        match self {
            Self::Channel(sender) if slow == Slow::Wait => sender.0.push(event).await,
            _ => self.send_now(event),
        }
    }

    /// Passes an event on at once.
    pub(super) fn send_now(&self, event: AgentEvent) {
        match self {
            Self::Channel(sender) => sender.0.push_now(event),
            Self::Callback(callback) => {
                let (agent, kind) = (event.agent.clone(), event.kind.name());
                if catch_unwind(AssertUnwindSafe(|| callback(event))).is_err() {
                    tracing::error!(target: "hooks_agent::builtin::answer",
                        agent = &*agent,
                        event = kind,
                        "the callback of a stream panicked"
                    );
                }
            }
        }
    }
}
