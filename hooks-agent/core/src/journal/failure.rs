//! A journal that has failed.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::journal::JournalError;

/// The first error of a journal. It takes nothing more then: the call fails, whatever hooks, sub-agents
/// and models make of the error.
#[derive(Default)]
pub(crate) struct Failure(OnceLock<Arc<JournalError>>);

impl Failure {
    /// Returns an error if the journal has failed.
    pub(crate) fn check(&self) -> Result<(), JournalFailed> {
        self.0.get().map_or(Ok(()), |error| Err(JournalFailed(error.clone())))
    }

    /// Keeps an error, unless there is an earlier one. Returns that of the call.
    pub(crate) fn keep(&self, error: JournalError) -> JournalFailed {
        JournalFailed(self.0.get_or_init(|| Arc::new(error)).clone())
    }
}

/// The error of a call whose journal has failed.
#[derive(Clone, Debug)]
pub(crate) struct JournalFailed(Arc<JournalError>);

impl JournalFailed {
    /// Returns whether the journal is full, so that it takes no step and does take the end.
    pub(crate) fn is_full(&self) -> bool {
        matches!(*self.0, JournalError::Full { .. })
    }
}

impl fmt::Display for JournalFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the journal failed the call")
    }
}

impl Error for JournalFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
