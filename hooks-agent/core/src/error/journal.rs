//! Errors of journals.

use hooks_core::BoxError;

/// The error of a journal. It fails the call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal of the call is full.
    #[error("the journal of the call is full: {reason}")]
    Full {
        /// Which limit is reached.
        reason: String,
    },
    /// A record cannot be read.
    #[error("the record of `{key}` cannot be read: {reason}")]
    Unreadable {
        /// The key of the step, or what the record is of.
        key: String,
        /// Why.
        reason: String,
    },
    /// A record or the journal is of a newer version of this library.
    #[error("{what} is of version {found}, this program reads versions up to {known}")]
    Version {
        /// What is newer.
        what: String,
        /// Its version.
        found: u64,
        /// The newest version that this program reads.
        known: u64,
    },
    /// The call was begun by a program that differs in what the call needs.
    #[error("the call was begun by another program: {what}")]
    Differs {
        /// What differs.
        what: String,
    },
    /// The journal does not take anything: the call is over or goes on in another process.
    #[error("the journal of the call is closed")]
    Closed,
    /// The engine failed. The same call may succeed later.
    #[error("the journal failed")]
    Failed(#[source] BoxError),
}

impl JournalError {
    /// Returns whether the same call may succeed later: true for [`Failed`](Self::Failed),
    /// [`Closed`](Self::Closed), and [`Version`](Self::Version), which a newer program reads.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Closed | Self::Version { .. })
    }
}
