//! Writes in the background.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::{Mutex as Turn, OwnedSemaphorePermit, Semaphore};

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::memories::Forget;
use crate::long_term_memory::remembered::Remembered;
use crate::long_term_memory::writer::{Call, Writer};
use hooks_agent_core::call::CallContext;

/// Calls whose memories are written in the background, in order, by one task at a time.
///
/// The task ends when there is nothing to do. If its runtime ends before, what waits stays here, for the
/// next task or for [`drain`](Self::drain).
pub(super) struct Queue {
    writer: Arc<Writer>,
    state: Mutex<State>,
    places: Arc<Semaphore>,
    /// Who writes now.
    turn: Turn<()>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Arc<Job>>,
    is_running: bool,
    is_closed: bool,
}

struct Job {
    call: Call,
    /// What is kept, once it is chosen: an attempt that is cut off chooses no second time.
    chosen: Mutex<Option<Vec<Remembered>>>,
    _place: OwnedSemaphorePermit,
}

impl Queue {
    pub(super) fn new(writer: Arc<Writer>, places: usize) -> Self {
        let places = Arc::new(Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)));
        Self { writer, state: Mutex::default(), places, turn: Turn::new(()) }
    }

    /// Takes a call, as soon as there is a place. Returns it if the queue is closed.
    pub(super) async fn push(self: &Arc<Self>, call: Call) -> Result<(), Call> {
        if self.state().is_closed {
            return Err(call);
        }
        let place = match self.places.clone().try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                self.run().await;
                let place = self.places.clone().acquire_owned().await;
                // The semaphore is never closed.
                let Ok(place) = place else { return Err(call) };
                place
            }
        };
        {
            let mut state = self.state();
            // It may have been closed meanwhile, and then nobody drains it again.
            if state.is_closed {
                return Err(call);
            }
            let job = Arc::new(Job { call, chosen: Mutex::default(), _place: place });
            state.jobs.push_back(job);
        }
        self.run().await;
        Ok(())
    }

    /// Sees that there is a task. Outside of a runtime, writes what waits.
    async fn run(self: &Arc<Self>) {
        let Ok(runtime) = Handle::try_current() else { return self.drain().await };
        if std::mem::replace(&mut self.state().is_running, true) {
            return;
        }
        let mut running = Running { queue: self.clone(), is_running: true };
        runtime.spawn(async move {
            while running.is_running {
                running.queue.drain().await;
                running.end_if_empty();
            }
        });
    }

    /// Writes what waits. Returns when everything that was taken before is written, or is in the list of
    /// failed writes.
    pub(super) async fn drain(&self) {
        let _turn = self.turn.lock().await;
        self.write_waiting().await;
    }

    /// Forgets entries of a user, also those that wait and those that could not be written.
    pub(super) async fn forget(&self, user: &str, which: Forget) -> Result<u64, MemoriesError> {
        let _turn = self.turn.lock().await;
        self.write_waiting().await;
        self.writer.forget_failed(user, &which);
        self.writer.memories.forget(user, which).await
    }

    /// Tries the writes that failed again.
    pub(super) async fn retry_failed(&self) {
        let _turn = self.turn.lock().await;
        self.writer.retry_failed().await;
    }

    /// Requires the turn.
    async fn write_waiting(&self) {
        loop {
            // It stays in the queue until it is done, so that nothing is lost if this is dropped.
            let Some(job) = self.state().jobs.front().cloned() else { return };
            self.write(&job).await;
            self.state().jobs.pop_front();
        }
    }

    async fn write(&self, job: &Job) {
        let chosen = lock(&job.chosen).clone();
        let entries = match chosen {
            Some(entries) => entries,
            None => {
                // The call is over, and an interrupt of it is not meant.
                let entries = self.writer.choose(&CallContext::default(), &job.call).await;
                lock(&job.chosen).insert(entries).clone()
            }
        };
        self.writer.write_patiently(&entries).await;
    }

    /// Takes no more calls.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
    }

    /// Returns how many calls wait.
    pub(super) fn len(&self) -> usize {
        self.state().jobs.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The task. Its end is noted, also if its runtime ends.
struct Running {
    queue: Arc<Queue>,
    is_running: bool,
}

impl Running {
    fn end_if_empty(&mut self) {
        let mut state = self.queue.state();
        if state.jobs.is_empty() {
            state.is_running = false;
            self.is_running = false;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_running {
            self.queue.state().is_running = false;
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let calls = self.len();
        if calls > 0 {
            tracing::error!(target: "hooks_agent::builtin::knowledge",
                calls,
                "memories were not written: end with `LongTermMemory::shutdown`"
            );
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.len()).finish_non_exhaustive()
    }
}
