//! The right to write to a thread.

use std::sync::Arc;

use crate::run_id::RunId;
use crate::store::key::ThreadKey;

/// The right of one call to write to a thread, for a time that the store's clock measures.
///
/// The fencing number grows with each owner: a store refuses what a former owner writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The thread.
    pub thread: ThreadKey,
    /// The call that owns it.
    pub owner: RunId,
    /// The number by which the store knows the thread.
    pub row: i64,
    /// The fencing number.
    pub fence: u64,
}

impl Lease {
    /// Creates the lease that a store granted.
    #[must_use]
    pub fn new(thread: ThreadKey, owner: RunId, row: i64, fence: u64) -> Self {
        Self { thread, owner, row, fence }
    }
}

/// What became of a request for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The call owns the thread.
    Granted {
        /// The lease.
        lease: Lease,
        /// The version of the thread; 0 if nothing was written to it.
        version: u64,
        /// Whether the lease of another owner ended without a release: its process ended, or was
        /// stopped for longer than the lease.
        is_takeover: bool,
        /// The [user](crate::call::CallOptions::user) of the thread.
        user: Option<Arc<str>>,
    },
    /// The [claim](crate::store::Claim) is of another user than the thread. Nothing has changed.
    OtherUser,
    /// Another call owns the thread, or was first to wait for it.
    Busy,
}
