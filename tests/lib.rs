//! What the tests share; and the program of the README, which is run as a test.
#![doc = include_str!("../README.md")]

use std::sync::{Mutex, PoisonError};

#[cfg(doctest)]
#[doc = include_str!("../hooks-core/README.md")]
mod readme_of_core {}

#[cfg(doctest)]
#[doc = include_str!("../hooks-agent/README.md")]
mod readme_of_agent {}

mod foreign_trait;
mod page;
pub mod scripted_agents;
mod trace_records;

pub use foreign_trait::{
    Speaker, SpeakerCountArgs, SpeakerObserveArgs, SpeakerPrintArgs, SpeakerReplyArgs,
};
pub use page::Page;
pub use trace_records::Reports;

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
