//! Limits of the entries of a user.

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::remembered::Remembered;

/// How much is kept of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// The most entries of a user; 1,000 by default. The oldest goes.
    pub entries: usize,
    /// The longest text of an entry, in bytes; 2,048 by default.
    pub bytes: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self { entries: 1000, bytes: 2048 }
    }
}

impl MemoryLimits {
    /// Checks the length of the texts.
    ///
    /// # Errors
    /// [`MemoriesError::TooLong`].
    pub fn check(&self, entries: &[Remembered]) -> Result<(), MemoriesError> {
        match entries.iter().find(|entry| entry.text.len() > self.bytes) {
            Some(entry) => {
                Err(MemoriesError::TooLong { bytes: entry.text.len(), limit: self.bytes })
            }
            None => Ok(()),
        }
    }
}
