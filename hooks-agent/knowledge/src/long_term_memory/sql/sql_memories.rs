//! Memories in a database.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use hooks_agent_sql::database::{
    Access, Columns, DatabaseError, Limit, List, Pool, Statement, signed,
};

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::limits::MemoryLimits;
use crate::long_term_memory::memories::{Added, Forget, Memories, MemoriesFuture};
use crate::long_term_memory::remembered::Remembered;
use crate::long_term_memory::sql::row::{NewRow, entries, removed_entries};
use crate::long_term_memory::sql::statements::Statements;
use crate::long_term_memory::words::words;

/// Memories in an SQL database: [`SqliteMemories`](crate::SqliteMemories) or
/// [`PostgresMemories`](crate::PostgresMemories).
///
/// A clone shares the connections.
pub struct SqlMemories<D: Statements> {
    connections: Connections<D>,
    limits: MemoryLimits,
}

/// The connections of memories to their database.
pub(super) struct Connections<D: Statements> {
    pub(super) reader: Arc<Pool<D::Connection>>,
    pub(super) writer: Arc<Pool<D::Connection>>,
    /// How long an operation may take.
    pub(super) limit: Limit,
}

impl<D: Statements> SqlMemories<D> {
    pub(super) fn of(connections: Connections<D>) -> Self {
        Self { connections, limits: MemoryLimits::default() }
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
        let rows = entries.iter().map(NewRow::of).collect::<Result<Vec<_>, _>>()?;
        let users: BTreeSet<&str> = entries.iter().map(|entry| &*entry.user).collect();
        let Connections { writer, limit, .. } = &self.connections;
        let mut conn = writer.get().await?;
        let added = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, None).await?;
            // In one order, so that two transactions never wait for each other.
            for lock in users.iter().filter_map(|user| D::lock(user)) {
                D::execute(&mut step, lock).await?;
            }
            let mut written = 0;
            for row in &rows {
                written += usize::from(insert::<D>(&mut step, row).await?);
            }
            let mut gone = Vec::new();
            for user in &users {
                let oldest = Statement::new(D::REMOVE_OLDEST)
                    .bind(user.as_bytes())
                    .bind(number(self.limits.entries));
                gone.push((*user, D::fetch(&mut step, oldest).await?));
            }
            step.commit().await?;
            Ok((written, gone))
        });
        let added = added.await;
        let (written, gone) = conn.done(added)?;
        let mut added = Added { written, known: rows.len() - written, removed: Vec::new() };
        for (user, rows) in gone {
            added.removed.extend(removed_entries(user, &rows)?);
        }
        Ok(added)
    }

    async fn find(
        &self,
        user: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Remembered>, MemoriesError> {
        let search = Statement::new(D::SEARCH)
            .bind(user.as_bytes())
            .bind(List::texts(words(query)))
            .bind(number(limit));
        self.read(user, search).await
    }

    async fn read(
        &self,
        user: &str,
        statement: Statement<'_>,
    ) -> Result<Vec<Remembered>, MemoriesError> {
        let Connections { reader, limit, .. } = &self.connections;
        let mut conn = reader.get().await?;
        let rows = limit.run(D::fetch(&mut conn, statement)).await;
        entries(user, &conn.done(rows)?)
    }

    async fn remove(&self, user: &str, which: Forget) -> Result<u64, MemoriesError> {
        let user = user.as_bytes();
        let forget = match &which {
            Forget::All => Statement::new(D::FORGET_ALL).bind(user),
            Forget::Id(id) => Statement::new(D::FORGET_ID).bind(user).bind(id.as_bytes()),
            Forget::Thread(thread) => {
                Statement::new(D::FORGET_THREAD).bind(user).bind(thread.as_bytes())
            }
            Forget::At(time) => {
                let (from, to) = (signed(*time.start()), signed(*time.end()));
                Statement::new(D::FORGET_TIME).bind(user).bind(from).bind(to)
            }
        };
        let Connections { writer, limit, .. } = &self.connections;
        let mut conn = writer.get().await?;
        let removed = limit.run(D::execute(&mut conn, forget)).await;
        Ok(conn.done(removed)?)
    }
}

/// Writes an entry with its words, and returns whether it was new.
async fn insert<D: Statements>(
    step: &mut D::Connection,
    row: &NewRow<'_>,
) -> Result<bool, DatabaseError> {
    let insert = Statement::new(D::INSERT)
        .bind(row.user)
        .bind(row.id)
        .bind(&row.digest[..])
        .bind(row.thread)
        .bind(row.made)
        .bind(&row.body);
    let inserted = D::fetch(step, insert).await?;
    let Some(number) = inserted.first() else { return Ok(false) };
    let words = Statement::new(D::INSERT_WORDS)
        .bind(row.user)
        .bind(number.int(0)?)
        .bind(List::texts(&row.words));
    D::execute(step, words).await?;
    Ok(true)
}

/// Returns a number of entries as the database has it.
fn number(entries: usize) -> i64 {
    i64::try_from(entries).unwrap_or(i64::MAX)
}

impl<D: Statements> Memories for SqlMemories<D> {
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
        Box::pin(self.read(user, Statement::new(D::LIST).bind(user.as_bytes())))
    }

    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64> {
        Box::pin(self.remove(user, which))
    }
}

impl<D: Statements> Clone for SqlMemories<D> {
    fn clone(&self) -> Self {
        Self { connections: self.connections.clone(), limits: self.limits }
    }
}

impl<D: Statements> Clone for Connections<D> {
    fn clone(&self) -> Self {
        let Self { reader, writer, limit } = self;
        Self { reader: reader.clone(), writer: writer.clone(), limit: *limit }
    }
}

impl<D: Statements> fmt::Debug for SqlMemories<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlMemories").field("limits", &self.limits).finish_non_exhaustive()
    }
}
