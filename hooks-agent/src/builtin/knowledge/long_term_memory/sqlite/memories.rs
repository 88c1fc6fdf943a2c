//! Memories in an SQLite file.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use sqlx::sqlite::{Sqlite, SqlitePool, SqlitePoolOptions};
use sqlx::{Error, Transaction};

use crate::builtin::knowledge::long_term_memory::error::MemoriesError;
use crate::builtin::knowledge::long_term_memory::memories::{
    Added, Forget, Memories, MemoriesFuture, MemoryLimits,
};
use crate::builtin::knowledge::long_term_memory::remembered::Remembered;
use crate::builtin::knowledge::long_term_memory::sql::{
    NewRow, key_of, limit_of, memories_error, read_all, read_removed, signed,
};
use crate::builtin::knowledge::long_term_memory::sqlite::open::open;
use crate::builtin::knowledge::long_term_memory::sqlite::statements::{
    FORGET_ALL, FORGET_ID, FORGET_THREAD, FORGET_TIME, INSERT, INSERT_WORDS, LIST, REMOVE_OLDEST,
    SEARCH,
};
use crate::builtin::knowledge::long_term_memory::words::words;

/// How many operations read at a time.
const READERS: u32 = 4;

/// Memories in an SQLite file, for the processes of one machine. Requires feature `sqlite`.
///
/// The file has a write-ahead log, which holds what is added before [`add`](Memories::add) returns, also
/// through a loss of power. Its tables have names of their own that begin with `memory_`; tables of a
/// [store](crate::store::SqliteStore) are never touched. A file of its own is best: a store makes no tables
/// in a file that has some already. A clone shares the connections.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use hooks_agent::builtin::knowledge::{Memories, Remembered, SqliteMemories};
///
/// # let folder = std::env::temp_dir().join(format!("hooks-memories-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let memories = SqliteMemories::open(folder.join("memories.db")).await?;
/// memories.add(vec![Remembered::new("ada", "Ada has a cat.")]).await?;
/// assert_eq!(memories.list("ada").await?.len(), 1);
/// # drop(memories);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteMemories {
    /// One connection: SQLite has one writer at a time, and waiting here is fair.
    writer: SqlitePool,
    readers: SqlitePool,
    limits: MemoryLimits,
}

impl SqliteMemories {
    /// Opens the memories in this file. Creates the file if there is none, with rights for its owner
    /// alone, and its tables.
    ///
    /// # Errors
    /// [`MemoriesError::Open`] if there is no such folder, or the file is a folder, read-only or no
    /// database; [`MemoriesError::NewerSchema`] if a newer program wrote it: it is left as it is.
    pub async fn open(path: impl AsRef<Path> + Send) -> Result<Self, MemoriesError> {
        let connect = open(path.as_ref()).await?;
        let pool = |size, options| {
            SqlitePoolOptions::new().max_connections(size).connect_lazy_with(options)
        };
        let readers = pool(READERS, connect.clone().pragma("query_only", "ON"));
        Ok(Self { writer: pool(1, connect), readers, limits: MemoryLimits::default() })
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
        let mut step = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
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
        let query = sqlx::query_scalar(SEARCH)
            .bind(key_of(user))
            .bind(json(&words(query)))
            .bind(limit_of(limit));
        let bodies: Vec<String> =
            query.fetch_all(&self.readers).await.map_err(|error| memories_error(&error))?;
        read_all(user, &bodies)
    }

    async fn entries(&self, user: &str) -> Result<Vec<Remembered>, MemoriesError> {
        let query = sqlx::query_scalar(LIST).bind(key_of(user));
        let bodies: Vec<String> =
            query.fetch_all(&self.readers).await.map_err(|error| memories_error(&error))?;
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
        let removed = query.execute(&self.writer).await.map_err(|error| memories_error(&error))?;
        Ok(removed.rows_affected())
    }
}

/// Writes an entry with its words, and returns whether it was new.
async fn insert(step: &mut Transaction<'_, Sqlite>, row: &NewRow) -> Result<bool, Error> {
    let query = sqlx::query_scalar(INSERT)
        .bind(&row.user)
        .bind(&row.id)
        .bind(&row.digest)
        .bind(&row.thread)
        .bind(row.made)
        .bind(&row.body);
    let number: Option<i64> = query.fetch_optional(&mut **step).await?;
    let Some(number) = number else { return Ok(false) };
    let query = sqlx::query(INSERT_WORDS).bind(&row.user).bind(number).bind(json(&row.words));
    query.execute(&mut **step).await?;
    Ok(true)
}

/// Returns words as a JSON array.
fn json(words: &[String]) -> String {
    serde_json::Value::from(words).to_string()
}

impl Memories for SqliteMemories {
    fn limits(&self) -> MemoryLimits {
        self.limits
    }

    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added> {
        Box::pin(self.add_all(entries))
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

impl fmt::Debug for SqliteMemories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteMemories").field("limits", &self.limits).finish_non_exhaustive()
    }
}
