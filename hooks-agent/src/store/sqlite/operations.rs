//! What operators do with a store.

use hooks_agent_core::store::{Filter, StoreError, StoreReport};
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use crate::store::sql::{Columns, Filtered, filtered, store_error, store_report};
use crate::store::sqlite::statements::{PRUNE, REPORT};
use crate::store::sqlite::store::SqliteStore;

impl SqliteStore {
    pub(super) async fn prune_threads(&self, filter: &Filter) -> Result<u64, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(0);
        }
        let mut conn = self.connections().writer.get().await?;
        let pruned = prune(&mut conn, filters.prunable()).await;
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
async fn prune(conn: &mut SqliteConnection, prunable: Filtered) -> Result<u64, sqlx::Error> {
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await?;
    let rows = filtered!(prunable).fetch_all(&mut *step).await?;
    let ids: Vec<_> = rows.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    let ids = serde_json::Value::from(ids).to_string();
    let mut count = 0;
    for statement in PRUNE {
        count += sqlx::query(statement).bind(&ids).execute(&mut *step).await?.rows_affected();
    }
    step.commit().await?;
    Ok(count)
}
