//! What an agent remembers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::message::Msg;

/// The messages of a conversation, in memory.
#[derive(Debug, Default)]
pub struct Memory {
    messages: Mutex<Vec<Msg>>,
}

impl Memory {
    /// Nothing remembered yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a message.
    pub fn add(&self, msg: Msg) {
        self.lock().push(msg);
    }

    /// Everything remembered, oldest first.
    #[must_use]
    pub fn messages(&self) -> Vec<Msg> {
        self.lock().clone()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Msg>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
