//! Memories in a PostgreSQL database.

use std::collections::BTreeSet;
use std::fmt;

use sha2::{Digest, Sha256};
use sqlx::postgres::{PgPool, Postgres};
use sqlx::{Error, Transaction};

use crate::builtin::knowledge::long_term_memory::error::MemoriesError;
use crate::builtin::knowledge::long_term_memory::memories::{
    Added, Forget, Memories, MemoriesFuture, MemoryLimits,
};
use crate::builtin::knowledge::long_term_memory::postgres::options::PostgresMemoriesOptions;
use crate::builtin::knowledge::long_term_memory::postgres::statements::{
    FORGET_ALL, FORGET_ID, FORGET_THREAD, FORGET_TIME, INSERT, INSERT_WORDS, LIST, LOCK_USER,
    REMOVE_OLDEST, SEARCH,
};
use crate::builtin::knowledge::long_term_memory::remembered::Remembered;
use crate::builtin::knowledge::long_term_memory::sql::{
    NewRow, key_of, limit_of, memories_error, read_all, read_removed, signed,
};
use crate::builtin::knowledge::long_term_memory::words::words;

/// Memories in a PostgreSQL database, for many workers. Requires feature `postgres`.
///
/// Its tables have names of their own that begin with `memory_`; tables of a
/// [store](crate::store::PostgresStore) are never touched. A write whose future is dropped goes on in a
/// task of the runtime of tokio. A clone shares the connections.
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::builtin::knowledge::MemoriesError> {
/// use hooks_agent::builtin::knowledge::{Memories, PostgresMemories};
///
/// let memories = PostgresMemories::connect("postgres://clerk@db.example.com/agents").await?;
/// memories.forget_all("ada").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresMemories {
    pool: PgPool,
    limits: MemoryLimits,
}

impl PostgresMemories {
    /// Connects to the database of this URL, with the default options, and creates the tables if there
    /// are none.
    ///
    /// # Errors
    /// [`MemoriesError::Open`] if the URL cannot be read, the user is refused or there is no such
    /// database; [`MemoriesError::Unavailable`] if the server cannot be reached;
    /// [`MemoriesError::NewerSchema`] if a newer program made the tables: they are left as they are.
    pub async fn connect(url: &str) -> Result<Self, MemoriesError> {
        Self::options().connect(url).await
    }

    /// Returns the options, to change them and connect.
    pub fn options() -> PostgresMemoriesOptions {
        PostgresMemoriesOptions::new()
    }

    pub(super) fn of(pool: PgPool) -> Self {
        Self { pool, limits: MemoryLimits::default() }
    }

    /// Sets the most entries of a user; 1,000 by default.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.limits.entries = entries;
        self
    }

    /// Sets the longest text of an entry, in bytes; 2,048 by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    async fn add_all(&self, entries: Vec<Remembered>) -> Result<Added, MemoriesError> {
        self.limits.check(&entries)?;
        let mut added = Added::default();
        let rows = entries.iter().map(NewRow::of).collect::<Result<Vec<_>, _>>()?;
        let failed = |error: Error| memories_error(&error);
        let locks: BTreeSet<_> = entries.iter().map(|entry| lock_of(&entry.user)).collect();
        let mut step = self.pool.begin().await.map_err(failed)?;
        // In the order of the locks, so that two transactions never wait for each other.
        for lock in locks {
            let query = sqlx::query(LOCK_USER).bind(lock);
            query.execute(&mut *step).await.map_err(failed)?;
        }
        for row in &rows {
            let is_new = insert(&mut step, row).await.map_err(failed)?;
            *if is_new { &mut added.written } else { &mut added.known } += 1;
        }
        let users: BTreeSet<_> = entries.iter().map(|entry| entry.user.clone()).collect();
        for user in users {
            let query = sqlx::query_as(REMOVE_OLDEST)
                .bind(key_of(&user))
                .bind(limit_of(self.limits.entries));
            let gone = query.fetch_all(&mut *step).await.map_err(failed)?;
            added.removed.extend(read_removed(&user, gone)?);
        }
        step.commit().await.map_err(failed)?;
        Ok(added)
    }

    async fn find(
        &self,
        user: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Remembered>, MemoriesError> {
        let query =
            sqlx::query_scalar(SEARCH).bind(key_of(user)).bind(words(query)).bind(limit_of(limit));
        let bodies: Vec<String> =
            query.fetch_all(&self.pool).await.map_err(|error| memories_error(&error))?;
        read_all(user, &bodies)
    }

    async fn entries(&self, user: &str) -> Result<Vec<Remembered>, MemoriesError> {
        let query = sqlx::query_scalar(LIST).bind(key_of(user));
        let bodies: Vec<String> =
            query.fetch_all(&self.pool).await.map_err(|error| memories_error(&error))?;
        read_all(user, &bodies)
    }

    async fn remove(&self, user: &str, which: Forget) -> Result<u64, MemoriesError> {
        let user = key_of(user);
        let query = match which {
            Forget::All => sqlx::query(FORGET_ALL).bind(user),
            Forget::Id(id) => sqlx::query(FORGET_ID).bind(user).bind(key_of(&id)),
            Forget::Thread(thread) => sqlx::query(FORGET_THREAD).bind(user).bind(key_of(&thread)),
            Forget::At(time) => {
                let (from, to) = (signed(*time.start()), signed(*time.end()));
                sqlx::query(FORGET_TIME).bind(user).bind(from).bind(to)
            }
        };
        let removed = query.execute(&self.pool).await.map_err(|error| memories_error(&error))?;
        Ok(removed.rows_affected())
    }
}

/// Writes an entry with its words, and returns whether it was new.
async fn insert(step: &mut Transaction<'_, Postgres>, row: &NewRow) -> Result<bool, Error> {
    let query = sqlx::query_scalar(INSERT)
        .bind(&row.user)
        .bind(&row.id)
        .bind(&row.digest)
        .bind(&row.thread)
        .bind(row.made)
        .bind(&row.body);
    let number: Option<i64> = query.fetch_optional(&mut **step).await?;
    let Some(number) = number else { return Ok(false) };
    let query = sqlx::query(INSERT_WORDS).bind(&row.user).bind(number).bind(&row.words);
    query.execute(&mut **step).await?;
    Ok(true)
}

/// Returns the number of the lock of a user. Two users that have the same wait for each other.
fn lock_of(user: &str) -> i64 {
    let digest: [u8; 32] = Sha256::digest(user).into();
    digest.first_chunk().map_or(0, |start| i64::from_be_bytes(*start))
}

impl Memories for PostgresMemories {
    fn limits(&self) -> MemoryLimits {
        self.limits
    }

    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added> {
        // A task of its own, which is not dropped half-way: the connection would go back with a
        // transaction that nobody ends, and take what others write into it.
        let memories = self.clone();
        Box::pin(async move {
            let adding = tokio::spawn(async move { memories.add_all(entries).await });
            adding.await.unwrap_or_else(|error| Err(MemoriesError::Failed(error.into())))
        })
    }

    fn search<'a>(
        &'a self,
        user: &'a str,
        query: &'a str,
        limit: usize,
    ) -> MemoriesFuture<'a, Vec<Remembered>> {
        Box::pin(self.find(user, query, limit))
    }

    fn list<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, Vec<Remembered>> {
        Box::pin(self.entries(user))
    }

    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64> {
        Box::pin(self.remove(user, which))
    }
}

impl fmt::Debug for PostgresMemories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresMemories").field("limits", &self.limits).finish_non_exhaustive()
    }
}
