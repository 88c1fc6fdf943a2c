//! The errors of stores.

use hooks_core::BoxError;

use crate::store::key::{NameError, ThreadKey};
use crate::store::people::DecisionError;
use crate::store::quota::QuotaExceeded;
use crate::store::runs::RunError;

/// The error of a store. Its texts name no password and no content of a thread.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be opened.
    #[error("the store cannot be opened: {reason}")]
    Open {
        /// What is wrong, and what to do.
        reason: String,
        /// The cause, if there is one.
        source: Option<BoxError>,
    },
    /// The schema of the store is newer than this program.
    #[error(
        "the store has schema version {found}, this program knows up to {known}: use a newer program"
    )]
    NewerSchema {
        /// The version of the store.
        found: u64,
        /// The latest version that this program knows.
        known: u64,
    },
    /// The schema of the store is older than this program, which may not bring it up to date.
    #[error(
        "the store has schema version {found}, this program reads version {needed}: migrate it first"
    )]
    OlderSchema {
        /// The version of the store.
        found: u64,
        /// The version that this program reads.
        needed: u64,
    },
    /// The store was opened to read alone.
    #[error("{place} is open to read alone: open it without `read_only` to write")]
    ReadOnly {
        /// The file, or the server.
        place: String,
    },
    /// The store cannot be reached now, or is busy. The operation may be tried again.
    #[error("the store is not available")]
    Unavailable(#[source] BoxError),
    /// The disk is full, or a quota is reached.
    #[error("the store has no space left")]
    Full(#[source] BoxError),
    /// The store refused the operation.
    #[error("the store failed")]
    Failed(#[source] BoxError),
    /// Another process owns the thread now: the lease of this call ended before the call did. Nothing
    /// of the step was written.
    #[error("the lease of {thread} was lost: another process may run it now")]
    LeaseLost {
        /// The thread.
        thread: ThreadKey,
    },
    /// The thread was changed since it was read. Nothing of the step was written.
    #[error("{thread} has version {found}, the step was made from version {expected}")]
    Conflict {
        /// The thread.
        thread: ThreadKey,
        /// The version that the step was made from.
        expected: u64,
        /// The version in the store.
        found: u64,
    },
    /// The thread is one of another [user](crate::call::CallOptions::user), or was begun without one, or the
    /// call says something and names no user. Nothing was changed.
    #[error(
        "{thread} belongs to another user or to none: name its user by `CallOptions::user`, use a thread of \
         the user, or take this one over with `CallOptions::take_over(true)`"
    )]
    OtherUser {
        /// The thread.
        thread: ThreadKey,
    },
    /// A quota is used up. Nothing was written, and nothing reserved.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The store keeps no quotas.
    #[error(
        "the store keeps no quotas: use `MemoryStore`, `SqliteStore` or `PostgresStore`, and no durable engine"
    )]
    NoQuotas,
    /// The store remembers no approvals.
    #[error(
        "the store remembers no approvals: use `MemoryStore`, `SqliteStore` or `PostgresStore`, and no durable \
         engine"
    )]
    NoApprovals,
    /// Nobody takes messages for calls that run.
    #[error(
        "calls take no messages while they run: build the agent with `.steering(true)`, on `MemoryStore`, \
         `SqliteStore` or `PostgresStore`, and with no durable engine"
    )]
    NoInbox,
    /// What is stored cannot be read.
    #[error("{what} cannot be read from the store")]
    Unreadable {
        /// What cannot be read.
        what: String,
        /// The cause.
        source: BoxError,
    },
    /// What is to be stored is nested deeper than what can be read again. Nothing of the step was
    /// written.
    #[error("what is to be stored is nested deeper than {limit} levels")]
    TooDeep {
        /// The most levels of arrays and objects.
        limit: usize,
    },
    /// There is no such thread.
    #[error("the store has no {0}")]
    UnknownThread(ThreadKey),
    /// A name cannot be stored.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A decision is refused. No decision of the same request was stored.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// A run, or a question about runs, is refused. Nothing was written.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl StoreError {
    /// Returns whether the same operation may succeed if it is tried again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}
