//! What an agent remembers, thread by thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::Memory;

/// A memory for each thread.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Most agents have one thread.
    default: Arc<Memory>,
    named: Mutex<HashMap<Arc<str>, Arc<Memory>>>,
}

impl Threads {
    /// The memory of a thread, which begins where there is none; without a name that of the default
    /// thread.
    pub(super) fn memory(&self, thread: Option<&Arc<str>>) -> Arc<Memory> {
        match thread {
            None => self.default.clone(),
            Some(id) => self.lock().entry(id.clone()).or_default().clone(),
        }
    }

    pub(super) fn unnamed(&self) -> &Memory {
        &self.default
    }

    /// The memory of a thread that there is.
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
