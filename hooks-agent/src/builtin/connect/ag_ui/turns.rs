//! The turns of requests on threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

/// One lock for each thread on which requests run or wait.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for the requests before on the thread: what waits on it is known when they are over.
    pub(super) async fn take(&self, thread: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(thread).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::new(tokio::sync::Mutex::new(()));
                locks.insert(thread.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}
