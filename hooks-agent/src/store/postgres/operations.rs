//! What operators do with a store.

use hooks_agent_core::store::{Filter, StoreError, StoreReport};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Postgres, Transaction};

use crate::store::postgres::statements::{PRUNE, REPORT};
use crate::store::postgres::store::PostgresStore;
use crate::store::sql::{Columns, Filtered, Limit, filtered, store_error, store_report};

impl PostgresStore {
    pub(super) async fn prune_threads(&self, filter: Filter) -> Result<u64, StoreError> {
        let filters = self.filters(&filter);
        if filters.is_of_nothing() {
            return Ok(0);
        }
        let mut conn = self.connections().pool.get().await?;
        let limit = self.connections().maintenance;
        let pruned = limit.run(prune(&mut conn, limit, filters.prunable())).await;
        conn.done(pruned)
    }

    pub(super) async fn count_rows(&self) -> Result<StoreReport, StoreError> {
        let mut conn = self.connections().pool.get().await?;
        let limit = self.connections().maintenance;
        let counted = limit.run(async {
            let mut step = begin(&mut conn, limit).await?;
            let rows = sqlx::query(REPORT).bind(self.name()).fetch_all(&mut *step).await?;
            step.commit().await?;
            Ok(rows)
        });
        let counted = counted.await;
        let rows = conn.done(counted)?;
        let row = rows.first().ok_or_else(|| store_error(&sqlx::Error::RowNotFound))?;
        store_report(row)
    }
}

/// Begins a transaction whose statements may take longer than those of calls.
pub(super) async fn begin(
    conn: &mut PgConnection,
    limit: Limit,
) -> Result<Transaction<'_, Postgres>, sqlx::Error> {
    let mut step = conn.begin().await?;
    // A large import is sent for a while: the transaction is idle until all of it is there.
    let set = sqlx::query(
        "SELECT set_config('statement_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $1, true)",
    );
    set.bind(limit.of_server()).execute(&mut *step).await?;
    Ok(step)
}

/// Removes the history of threads in one transaction.
async fn prune(
    conn: &mut PgConnection,
    limit: Limit,
    prunable: Filtered,
) -> Result<u64, sqlx::Error> {
    let mut step = begin(conn, limit).await?;
    let rows = filtered!(prunable).fetch_all(&mut *step).await?;
    let ids: Vec<_> = rows.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    let mut count = 0;
    for statement in PRUNE {
        count += sqlx::query(statement).bind(&ids).execute(&mut *step).await?.rows_affected();
    }
    step.commit().await?;
    Ok(count)
}
