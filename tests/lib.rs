//! What the tests share; and the program of the README, which is run as a test.
#![doc = include_str!("../README.md")]

use std::sync::{Mutex, PoisonError};

pub mod bots;
mod reports;
mod speaker;

pub use reports::Reports;
pub use speaker::{
    Speaker, SpeakerCountArgs, SpeakerObserveArgs, SpeakerPrintArgs, SpeakerReplyArgs,
};

/// A list that tests write to from hooks and bodies.
#[derive(Debug)]
pub struct Records<T = &'static str>(Mutex<Vec<T>>);

impl<T> Records<T> {
    /// No records yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Adds a record.
    pub fn push(&self, record: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    /// Takes all records out.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Default for Records<T> {
    fn default() -> Self {
        Self::new()
    }
}
