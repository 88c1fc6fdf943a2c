//! The memories of an agent, by thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::Memory;

/// One memory for each thread.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The memory of the default thread; most agents have no other.
    default: Arc<Memory>,
    named: Mutex<HashMap<Arc<str>, Arc<Memory>>>,
}

impl Threads {
    /// Returns the memory of a thread and creates it if there is none. Without a name, returns the
    /// memory of the default thread.
    pub(super) fn memory(&self, thread: Option<&Arc<str>>) -> Arc<Memory> {
        match thread {
            None => self.default.clone(),
            Some(id) => self.lock().entry(id.clone()).or_default().clone(),
        }
    }

    pub(super) fn unnamed(&self) -> &Memory {
        &self.default
    }

    /// Returns the memory of an existing thread.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Memory>> {
        self.lock().get(id).cloned()
    }

    pub(super) fn forget(&self, id: &str) -> bool {
        self.lock().remove(id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Memory>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
