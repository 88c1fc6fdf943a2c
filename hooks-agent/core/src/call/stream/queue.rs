//! The queue from a call to its stream.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::call::stream::event::AgentEvent;

/// The destination of the events of a call.
#[derive(Clone)]
pub(crate) enum EventSink {
    Queue(EventSender),
    Mapped(Arc<dyn Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync>, Arc<EventSink>),
}

impl EventSink {
    /// Sends the event and waits until it is read, so that a call runs no faster than its stream is
    /// read.
    pub(crate) async fn send(&self, event: AgentEvent) {
        if let Some((event, sender)) = self.mapped(event) {
            sender.send(event).await;
        }
    }

    /// Sends the event without waiting until it is read. Drops one at which a map panics: the call
    /// may be unwinding.
    pub(crate) fn send_now(&self, event: AgentEvent) {
        let mapped = catch_unwind(AssertUnwindSafe(|| self.mapped(event)));
        if let Some((event, sender)) = mapped.ok().flatten() {
            sender.push(event);
        }
    }

    /// Returns the event as hooks changed it, and the queue, unless one of them dropped it.
    fn mapped(&self, mut event: AgentEvent) -> Option<(AgentEvent, &EventSender)> {
        let mut sink = self;
        loop {
            match sink {
                Self::Mapped(map, inner) => (event, sink) = (map(event)?, inner),
                Self::Queue(sender) => return Some((event, sender)),
            }
        }
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}

/// The sending end of the queue.
#[derive(Clone)]
pub(crate) struct EventSender {
    events: UnboundedSender<AgentEvent>,
    unread: Arc<Unread>,
}

/// The receiving end of the queue.
pub(crate) struct EventReceiver {
    events: UnboundedReceiver<AgentEvent>,
    unread: Arc<Unread>,
}

/// The number of unread events. A sender that waits holds no lock or slot: some futures of one call
/// may not be polled for a while.
#[derive(Default)]
struct Unread {
    count: AtomicUsize,
    read: Notify,
}

/// Creates a queue of events.
pub(crate) fn event_queue() -> (EventSender, EventReceiver) {
    let ((sender, receiver), unread) = (unbounded_channel(), Arc::<Unread>::default());
    (
        EventSender { events: sender, unread: unread.clone() },
        EventReceiver { events: receiver, unread },
    )
}

impl EventSender {
    async fn send(&self, event: AgentEvent) {
        self.push(event);
        let Unread { count, read } = &*self.unread;
        loop {
            let mut more = pin!(read.notified());
            more.as_mut().enable();
            if count.load(Ordering::Acquire) == 0 || self.events.is_closed() {
                return;
            }
            more.await;
        }
    }

    fn push(&self, event: AgentEvent) {
        self.unread.count.fetch_add(1, Ordering::AcqRel);
        // A closed stream means that the call is being dropped.
        let _ = self.events.send(event);
    }
}

impl EventReceiver {
    pub(crate) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let polled = self.events.poll_recv(cx);
        if let Poll::Ready(Some(_)) = polled {
            self.note_read();
        }
        polled
    }

    pub(crate) fn try_recv(&mut self) -> Option<AgentEvent> {
        let event = self.events.try_recv().ok()?;
        self.note_read();
        Some(event)
    }

    /// Closes the queue: senders no longer wait.
    pub(crate) fn close(&mut self) {
        self.events.close();
        self.unread.read.notify_waiters();
    }

    fn note_read(&self) {
        self.unread.count.fetch_sub(1, Ordering::AcqRel);
        self.unread.read.notify_waiters();
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        self.close();
    }
}
