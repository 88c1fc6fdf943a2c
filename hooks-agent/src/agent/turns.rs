//! Calls on one thread take turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

use crate::context::CallContext;

/// A queue for each thread that has calls, first come, first served.
#[derive(Default)]
pub(super) struct Turns {
    queues: Mutex<HashMap<Arc<str>, Arc<Queue<()>>>>,
    /// Most agents have one thread.
    default: Arc<Queue<()>>,
}

/// The right to run, given back when it is dropped.
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
            // The last one turns off the light; others are known by their share of the queue.
            if queues.get(thread).is_some_and(|queue| Arc::strong_count(queue) == 1) {
                queues.remove(thread);
            }
        }
    }
}
