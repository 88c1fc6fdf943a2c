//! The queue from a call to its stream.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::stream::AgentEvent;

/// The destination of the events of a call.
#[derive(Clone)]
pub(crate) enum EventSink {
    Queue(EventSender),
    Mapped(Arc<dyn Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync>, Arc<EventSink>),
}

impl EventSink {
    /// Sends the event and waits until it is read, so that a call runs no faster than its stream is
    /// read.
    pub(crate) async fn send(&self, mut event: AgentEvent) {
        let mut sink = self;
        loop {
            match sink {
                Self::Mapped(map, inner) => {
                    let Some(mapped) = map(event) else { return };
                    (event, sink) = (mapped, inner);
                }
                Self::Queue(sender) => return sender.send(event).await,
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
        let Unread { count, read } = &*self.unread;
        count.fetch_add(1, Ordering::AcqRel);
        // A closed stream means that the call is being dropped.
        let _ = self.events.send(event);
        loop {
            let mut more = pin!(read.notified());
            more.as_mut().enable();
            if count.load(Ordering::Acquire) == 0 || self.events.is_closed() {
                return;
            }
            more.await;
        }
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
