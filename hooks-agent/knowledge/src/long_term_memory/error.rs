//! The errors of memories.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use hooks_agent_sql::database::{DatabaseError, DatabaseErrorKind};
use hooks_core::BoxError;

/// The error of [`Memories`](crate::Memories). Its texts name no password and nothing that is
/// remembered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoriesError {
    /// The memories cannot be opened.
    #[error("the memories cannot be opened: {reason}")]
    Open {
        /// What is wrong, and what to do.
        reason: String,
        /// The cause, if there is one.
        source: Option<BoxError>,
    },
    /// The tables are newer than this program.
    #[error(
        "the memories have schema version {found}, this program knows up to {known}: use a newer program"
    )]
    NewerSchema {
        /// The version of the tables.
        found: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// The memories cannot be reached now. The operation may be tried again.
    #[error("the memories are not available")]
    Unavailable(#[source] BoxError),
    /// The disk is full, or a quota is reached.
    #[error("the memories have no space left")]
    Full(#[source] BoxError),
    /// The memories refused the operation.
    #[error("the memories failed")]
    Failed(#[source] BoxError),
    /// An entry is too long. None was written.
    #[error("an entry of {bytes} bytes is longer than the limit of {limit}")]
    TooLong {
        /// The length of its text.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The call has no user, and the hook [requires](crate::LongTermMemory::require_user) one.
    #[error("the call has no user: set one by `CallOptions::user`")]
    NoUser,
}

impl MemoriesError {
    /// Returns whether the same operation may succeed if it is tried again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl From<DatabaseError> for MemoriesError {
    fn from(error: DatabaseError) -> Self {
        match error.kind() {
            DatabaseErrorKind::Open => {
                let reason = error.to_string();
                Self::Open { reason, source: error.into_source().map(Into::into) }
            }
            DatabaseErrorKind::Unavailable => Self::Unavailable(error.into()),
            DatabaseErrorKind::Full => Self::Full(error.into()),
            DatabaseErrorKind::Failed => Self::Failed(error.into()),
        }
    }
}
