//! Jobs that hooks in shadow have not done yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many jobs are not done.
#[derive(Default)]
pub(super) struct Waiting {
    count: AtomicUsize,
    changed: Notify,
}

impl Waiting {
    /// Waits until all are done.
    pub(super) async fn until_none(&self) {
        loop {
            let done = self.changed.notified();
            if self.count.load(Ordering::Acquire) == 0 {
                return;
            }
            done.await;
        }
    }
}

/// A job that is not done until this is dropped.
pub(super) struct Undone(Arc<Waiting>);

impl Undone {
    pub(super) fn new(waiting: &Arc<Waiting>) -> Self {
        waiting.count.fetch_add(1, Ordering::AcqRel);
        Self(waiting.clone())
    }
}

impl Drop for Undone {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.changed.notify_waiters();
    }
}
