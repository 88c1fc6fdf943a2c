//! What an agent remembers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::{Messages, Msg};

/// The messages of a conversation, in memory.
#[derive(Debug, Default)]
pub struct Memory {
    messages: Mutex<Messages>,
}

impl Memory {
    /// Nothing remembered yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a message.
    pub fn add(&self, msg: impl Into<Arc<Msg>>) {
        self.lock().push(msg);
    }

    /// Everything remembered, oldest first.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.lock().clone()
    }

    /// Remembers these messages in place of all others.
    pub fn replace(&self, messages: impl Into<Messages>) {
        *self.lock() = messages.into();
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
