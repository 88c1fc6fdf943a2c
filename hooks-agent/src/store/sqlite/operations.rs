//! What operators do with a store.

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use crate::store::sql::{FilterRow, store_error, store_report};
use crate::store::sqlite::statements::{PRUNE, REPORT};
use crate::store::{Filter, SqliteStore, StoreError, StoreReport};

impl SqliteStore {
    pub(super) async fn prune_threads(&self, filter: Filter) -> Result<u64, StoreError> {
        let Some(filter) = FilterRow::of(&filter) else { return Ok(0) };
        let mut conn = self.connections().writer.get().await?;
        let pruned = prune(&mut conn, self.name(), &filter).await;
        conn.done(pruned)
    }

    pub(super) async fn count_rows(&self) -> Result<StoreReport, StoreError> {
        let mut conn = self.connections().readers.get().await?;
        let counted = sqlx::query(REPORT).bind(self.name()).fetch_all(&mut *conn).await;
        let rows = conn.done(counted)?;
        let row = rows.first().ok_or_else(|| store_error(&sqlx::Error::RowNotFound))?;
        store_report(row)
    }
}

/// Removes the history of threads in one transaction.
async fn prune(
    conn: &mut SqliteConnection,
    namespace: &str,
    filter: &FilterRow<'_>,
) -> Result<u64, sqlx::Error> {
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await?;
    let mut count = 0;
    for statement in PRUNE {
        let done = sqlx::query(statement)
            .bind(namespace)
            .bind(filter.agent)
            .bind(filter.thread)
            .bind(filter.user)
            .bind(filter.unused_for)
            .bind(filter.limit)
            .execute(&mut *step)
            .await?;
        count += done.rows_affected();
    }
    step.commit().await?;
    Ok(count)
}
