//! The turns of requests on threads, and the inputs that wait for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// How many requests wait for the one that runs on a thread.
const WAITING: usize = 16;

/// How many bytes the inputs have together that are read or wait.
const INPUTS: usize = 16 * 1024 * 1024;

/// What the smallest input counts.
const UNIT: usize = 4 * 1024;

/// One lock for each thread on which requests run or wait, and what inputs take meanwhile.
#[derive(Debug)]
pub(super) struct Turns {
    locks: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
    inputs: Arc<Semaphore>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { locks: Mutex::default(), inputs: Arc::new(Semaphore::new(INPUTS / UNIT)) }
    }
}

impl Turns {
    /// Waits for the requests before on the thread: what waits on it is known when they are over. `None` if
    /// too many wait.
    pub(super) async fn take(&self, thread: &str) -> Option<OwnedMutexGuard<()>> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(thread).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::new(tokio::sync::Mutex::new(()));
                locks.insert(thread.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        // This one, the one that runs, and those that wait.
        if Arc::strong_count(&lock) >= WAITING + 2 {
            return None;
        }
        Some(lock.lock_owned().await)
    }

    /// Lets an input of so many bytes be read. `None` if too much is read or waits.
    pub(super) fn admit(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(UNIT).max(1)).ok()?;
        self.inputs.clone().try_acquire_many_owned(units).ok()
    }
}
