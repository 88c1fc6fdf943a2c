//! Runs the calls of one thread one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

use crate::call::CallContext;

/// One first-in, first-out queue for each thread that has calls.
#[derive(Default)]
pub(super) struct Turns {
    queues: Mutex<HashMap<Arc<str>, Arc<Queue<()>>>>,
    /// The queue of the default thread; most agents have no other.
    default: Arc<Queue<()>>,
}

/// The right to run a call on a thread, until dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    thread: Option<Arc<str>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits until no other call runs on the thread.
    pub(super) async fn take(&self, cx: &CallContext) -> Turn<'_> {
        let (thread, queue) = match cx.named_thread() {
            None => (None, self.default.clone()),
            Some(thread) => {
                let queue = self.lock().entry(thread.clone()).or_default().clone();
                (Some(thread.clone()), queue)
            }
        };
        let mut turn = Turn { turns: self, thread, held: None };
        turn.held = Some(queue.lock_owned().await);
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Queue<()>>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.held.take());
        if let Some(thread) = &self.thread {
            let mut queues = self.turns.lock();
            // The last call removes the queue; a call that waits holds a reference to it.
            if queues.get(thread).is_some_and(|queue| Arc::strong_count(queue) == 1) {
                queues.remove(thread);
            }
        }
    }
}
