//! The values of hooks, by thread.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_guest::{GuestThread, GuestThreads, GuestThreadsError, LiveThreads};
use tokio::sync::Mutex as AsyncMutex;

/// How many threads are kept in memory at most.
const MOST: usize = 65_536;

/// Why there is nothing of a thread.
const TOO_MANY: &str =
    "too many conversations have begun: start the proxy again, or give it a file of threads";
const UNREADABLE: &str = "the file of threads cannot be read or written";

/// What hooks keep of threads between requests, such as counts.
pub struct ProxyThreads(Place);

enum Place {
    Memory(Mutex<HashMap<String, Arc<AsyncMutex<GuestThread>>>>),
    File(AsyncMutex<GuestThreads>),
    Live(Arc<LiveThreads>),
}

impl ProxyThreads {
    /// Keeps them in memory, until the proxy ends: counts begin again with it. Of more than 65,536 threads, requests
    /// are refused.
    #[must_use]
    pub fn in_memory() -> Self {
        Self(Place::Memory(Mutex::default()))
    }

    /// Keeps them in memory, with a file behind them. A task of the program
    /// [writes](LiveThreads::write_changes) what has changed.
    #[must_use]
    pub fn live(threads: Arc<LiveThreads>) -> Self {
        Self(Place::Live(threads))
    }

    /// Keeps them in a file, which guards may share. Each request waits for the disk.
    #[must_use]
    pub fn in_file(threads: GuestThreads) -> Self {
        Self(Place::File(AsyncMutex::new(threads)))
    }

    /// Changes a thread while nobody else does.
    pub(crate) async fn update<R>(
        &self,
        id: &str,
        change: impl AsyncFnOnce(&mut GuestThread) -> R,
    ) -> Result<R, &'static str> {
        match &self.0 {
            Place::Memory(threads) => {
                let thread = thread_of(threads, id).ok_or(TOO_MANY)?;
                let mut thread = thread.lock().await;
                Ok(change(&mut thread).await)
            }
            Place::File(threads) => {
                threads.lock().await.update(id, change).await.map_err(|error| unreadable(&error))
            }
            Place::Live(threads) => {
                threads.update(id, change).await.map_err(|error| unreadable(&error))
            }
        }
    }
}

fn unreadable(error: &GuestThreadsError) -> &'static str {
    tracing::error!(
        target: "hooks_agent::proxy",
        error = error as &dyn std::error::Error, "a thread cannot be kept"
    );
    UNREADABLE
}

fn thread_of(
    threads: &Mutex<HashMap<String, Arc<AsyncMutex<GuestThread>>>>,
    id: &str,
) -> Option<Arc<AsyncMutex<GuestThread>>> {
    let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(thread) = threads.get(id) {
        return Some(thread.clone());
    }
    (threads.len() < MOST).then(|| threads.entry(id.to_owned()).or_default().clone())
}

impl fmt::Debug for ProxyThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.0 {
            Place::Memory(_) => "memory",
            Place::File(_) => "file",
            Place::Live(_) => "live",
        };
        f.debug_tuple("ProxyThreads").field(&place).finish()
    }
}
