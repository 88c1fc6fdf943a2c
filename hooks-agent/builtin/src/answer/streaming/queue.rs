//! The queue between calls and the reader.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use hooks_agent_core::call::RunId;
use hooks_agent_core::stream::{AgentEvent, AgentEventKind};
use tokio::sync::Notify;

/// A queue of events.
pub(super) struct Queue {
    capacity: usize,
    state: Mutex<State>,
    /// Notified when there is room, and when the reader is gone.
    room: Notify,
}

#[derive(Default)]
struct State {
    events: VecDeque<AgentEvent>,
    /// How many chunks of a call were dropped since its last event.
    dropped: HashMap<RunId, u64>,
    reader: Option<Waker>,
    has_no_reader: bool,
    has_no_writer: bool,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), state: Mutex::default(), room: Notify::new() }
    }

    /// Adds an event when there is room. A call that is dropped while it waits adds nothing.
    pub(super) async fn push(&self, event: AgentEvent) {
        loop {
            let mut room = pin!(self.room.notified());
            room.as_mut().enable();
            {
                let mut state = self.lock();
                if state.has_no_reader || state.events.len() < self.capacity {
                    return state.add(event);
                }
            }
            room.await;
        }
    }

    /// Adds an event at once; without room, a chunk is dropped and counted.
    pub(super) fn push_now(&self, event: AgentEvent) {
        let mut state = self.lock();
        if event.kind.is_chunk() && state.events.len() >= self.capacity && !state.has_no_reader {
            *state.dropped.entry(event.run).or_default() += 1;
        } else {
            state.add(event);
        }
    }

    /// Returns whether nobody reads any more.
    pub(super) fn has_no_reader(&self) -> bool {
        self.lock().has_no_reader
    }

    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut state = self.lock();
        let Some(event) = state.events.pop_front() else {
            if state.has_no_writer {
                return Poll::Ready(None);
            }
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        drop(state);
        self.room.notify_waiters();
        Poll::Ready(Some(event))
    }

    pub(super) fn try_pop(&self) -> Option<AgentEvent> {
        let event = self.lock().events.pop_front()?;
        self.room.notify_waiters();
        Some(event)
    }

    /// Ends the reading: later events are dropped, and nobody waits.
    pub(super) fn close_reader(&self) {
        let mut state = self.lock();
        state.has_no_reader = true;
        // Dropped without the lock.
        let unread = (std::mem::take(&mut state.events), std::mem::take(&mut state.dropped));
        drop(state);
        drop(unread);
        self.room.notify_waiters();
    }

    /// Ends the writing: the reader gets what is left.
    pub(super) fn close_writer(&self) {
        let mut state = self.lock();
        state.has_no_writer = true;
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, event: AgentEvent) {
        if self.has_no_reader {
            return;
        }
        if let Some(dropped) = self.dropped.remove(&event.run) {
            let mut lagged = event.clone();
            lagged.kind = AgentEventKind::Lagged { dropped };
            self.events.push_back(lagged);
        }
        self.events.push_back(event);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}
