//! The memories of an agent, by thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::CallContext;
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

    /// Returns the memory of a thread, if there is one.
    pub(super) fn existing(&self, thread: Option<&Arc<str>>) -> Option<Arc<Memory>> {
        match thread {
            None => Some(self.default.clone()),
            Some(id) => self.lock().get(id).cloned(),
        }
    }

    pub(super) fn unnamed(&self) -> &Memory {
        &self.default
    }

    /// Returns the memory of an existing thread.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Memory>> {
        if id == CallContext::DEFAULT_THREAD {
            return Some(self.default.clone());
        }
        self.lock().get(id).cloned()
    }

    /// Removes a thread; clears the default one.
    pub(super) fn forget(&self, id: &str) -> bool {
        if id == CallContext::DEFAULT_THREAD {
            let is_used = !self.default.messages().is_empty();
            self.default.clear();
            return is_used;
        }
        self.lock().remove(id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Memory>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
