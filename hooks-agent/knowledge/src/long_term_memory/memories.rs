//! The interface between the hook and what keeps memories.

use std::fmt;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::limits::MemoryLimits;
use crate::long_term_memory::remembered::Remembered;

/// The future of an operation of [`Memories`].
pub type MemoriesFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, MemoriesError>> + Send + 'a>>;

/// What keeps the memories of users, each user apart from all others.
///
/// A user is a text of any content, and equal to itself alone: case, spaces, NUL and look-alikes make
/// another user. No operation reads, changes or removes anything of another user than the one that it
/// names. Dropping a future leaves its operation done or not done, never half done.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep memories",
    note = "memories are `ProcessMemories::new()`, `SqliteMemories::open(path).await?` (feature `sqlite`) and \
            `PostgresMemories::connect(url).await?` (feature `postgres`)"
)]
pub trait Memories: fmt::Debug + Send + Sync + 'static {
    /// Returns how much is kept of a user.
    fn limits(&self) -> MemoryLimits;

    /// Adds entries: all of them, or none. An entry whose id or whose text the user already has is not
    /// written; case and white space make no other text. The oldest entries of a user beyond the
    /// [limit](MemoryLimits::entries) are removed and returned.
    ///
    /// # Errors
    /// [`MemoriesError::TooLong`] for an entry beyond the [limit](MemoryLimits::bytes).
    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added>;

    /// Returns at most `limit` entries of a user: those that share words with the query first, rarer
    /// words of the user counting more, then the latest.
    fn search<'a>(
        &'a self,
        user: &'a str,
        query: &'a str,
        limit: usize,
    ) -> MemoriesFuture<'a, Vec<Remembered>>;

    /// Returns the entries of a user, the oldest first.
    fn list<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, Vec<Remembered>>;

    /// Removes entries of a user, and returns how many.
    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64>;

    /// Removes all entries of a user, and returns how many.
    fn forget_all<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, u64> {
        self.forget(user, Forget::All)
    }

    /// Returns everything that is kept of a user as JSON, an array of [`Remembered`].
    fn export<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, String> {
        Box::pin(async move {
            let entries = self.list(user).await?;
            serde_json::to_string_pretty(&entries)
                .map_err(|error| MemoriesError::Failed(error.into()))
        })
    }
}

/// Forwards to the shared memories.
impl<M: Memories + ?Sized> Memories for Arc<M> {
    fn limits(&self) -> MemoryLimits {
        M::limits(self)
    }

    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added> {
        M::add(self, entries)
    }

    fn search<'a>(
        &'a self,
        user: &'a str,
        query: &'a str,
        limit: usize,
    ) -> MemoriesFuture<'a, Vec<Remembered>> {
        M::search(self, user, query, limit)
    }

    fn list<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, Vec<Remembered>> {
        M::list(self, user)
    }

    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64> {
        M::forget(self, user, which)
    }

    fn forget_all<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, u64> {
        M::forget_all(self, user)
    }

    fn export<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, String> {
        M::export(self, user)
    }
}

/// Which entries of a user are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forget {
    /// All of them.
    All,
    /// The one of this id.
    Id(String),
    /// Those that come from this thread, of any agent.
    Thread(String),
    /// Those that were made in this time, in milliseconds since 1970.
    At(RangeInclusive<u64>),
}

impl Forget {
    /// Returns whether an entry of the user is one of them.
    pub(super) fn is_of(&self, entry: &Remembered) -> bool {
        match self {
            Self::All => true,
            Self::Id(id) => entry.id == *id,
            Self::Thread(thread) => {
                entry.source.as_ref().is_some_and(|source| *source.thread == **thread)
            }
            Self::At(time) => time.contains(&entry.at),
        }
    }
}

/// What became of entries that were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// How many were written.
    pub written: usize,
    /// How many the user already had.
    pub known: usize,
    /// The oldest entries, which were removed because the user has more than the limit.
    pub removed: Vec<Remembered>,
}
