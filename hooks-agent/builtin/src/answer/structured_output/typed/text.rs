//! The text of an answer while it arrives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The text of an answer so far. What arrives later is added to the same buffer, so that an answer of
/// many chunks is kept once.
#[derive(Clone, Default)]
pub(super) struct TextSoFar {
    buffer: Arc<Mutex<String>>,
    length: usize,
}

impl TextSoFar {
    /// Adds what arrived. Earlier clones stay as they are.
    pub(super) fn push(&mut self, more: &str) {
        let mut buffer = lock(&self.buffer);
        buffer.push_str(more);
        self.length = buffer.len();
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn read<R>(&self, read: impl FnOnce(&str) -> R) -> R {
        read(&lock(&self.buffer)[..self.length])
    }
}

fn lock(buffer: &Mutex<String>) -> MutexGuard<'_, String> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}
