//! The memory of an agent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::{Messages, Msg};

/// The messages of one conversation.
#[derive(Debug, Default)]
pub struct Memory {
    messages: Mutex<Messages>,
}

impl Memory {
    /// Creates an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message.
    pub fn add(&self, msg: impl Into<Arc<Msg>>) {
        self.lock().push(msg);
    }

    /// Returns all messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.lock().clone()
    }

    /// Replaces all messages.
    pub fn replace(&self, messages: impl Into<Messages>) {
        *self.lock() = messages.into();
    }

    /// Removes all messages.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
