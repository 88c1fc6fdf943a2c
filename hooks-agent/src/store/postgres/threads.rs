//! Threads as a whole.

use std::sync::Arc;

use hooks_agent_core::store::{
    Filter, HistoryRow, Lease, StoreError, ThreadInfo, ThreadKey, ThreadRecord,
};
use serde_json::{Map, Value};
use sqlx::postgres::PgConnection;

use crate::store::postgres::operations::begin;
use crate::store::postgres::statements::{
    ELEMENTS, HISTORY, IMPORT, IMPORT_MESSAGES, IMPORT_VALUES, LOAD, NOW, VALUES, VERSION,
};
use crate::store::postgres::store::PostgresStore;
use crate::store::sql::{
    Columns, Filters, ImportRows, Limit, filtered, history_row, random_id, thread_info,
    thread_record, unsigned, value_of,
};

impl PostgresStore {
    pub(super) async fn load_thread(&self, lease: &Lease) -> Result<ThreadRecord, StoreError> {
        let mut conn = self.connections().pool.get().await?;
        let rows = sqlx::query(LOAD).bind(lease.row).bind(self.name()).fetch_all(&mut *conn);
        let rows = self.connections().statement.run(rows).await;
        thread_record(lease, &conn.done(rows)?)
    }

    pub(super) async fn thread_list(&self, filter: &Filter) -> Result<Vec<ThreadInfo>, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(Vec::new());
        }
        let mut conn = self.connections().pool.get().await?;
        let rows = filtered!(filters.threads()).fetch_all(&mut *conn);
        let rows = self.connections().statement.run(rows).await;
        conn.done(rows)?.iter().map(thread_info).collect()
    }

    pub(super) async fn all_messages(
        &self,
        key: &ThreadKey,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let mut conn = self.connections().pool.get().await?;
        let rows = sqlx::query(HISTORY)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .fetch_all(&mut *conn);
        let rows = self.connections().statement.run(rows).await;
        conn.done(rows)?.iter().map(|row| history_row(key, row)).collect()
    }

    pub(super) async fn all_values(
        &self,
        key: &ThreadKey,
    ) -> Result<Map<String, Value>, StoreError> {
        let mut conn = self.connections().pool.get().await?;
        let rows = sqlx::query(VALUES)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .fetch_all(&mut *conn);
        let rows = self.connections().statement.run(rows).await;
        conn.done(rows)?.iter().map(|row| value_of(key, row, (0, 1))).collect()
    }

    pub(super) async fn import_thread(
        &self,
        key: &ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> Result<(), StoreError> {
        let rows = ImportRows::of(&rows, &values, user)?;
        let mut conn = self.connections().pool.get().await?;
        let limit = self.connections().maintenance;
        let imported = limit.run(import(&mut conn, limit, self.name(), key, &rows)).await;
        match conn.done(imported)? {
            None => Ok(()),
            Some(version) => Err(StoreError::Conflict {
                thread: key.clone(),
                expected: 0,
                found: unsigned(version),
            }),
        }
    }

    pub(super) async fn forget_threads(&self, filter: Filter) -> Result<u64, StoreError> {
        let filters = self.filters(&filter);
        if filters.is_of_nothing() {
            return Ok(0);
        }
        let connections = self.connections();
        let mut conn = connections.pool.get().await?;
        let is_one = filter.agent.is_some() && filter.thread.is_some();
        let limit = if is_one { connections.statement } else { connections.maintenance };
        let done = limit.run(async {
            let mut step = begin(&mut conn, limit).await?;
            let done = filtered!(filters.forget()).execute(&mut *step).await?;
            step.commit().await?;
            Ok(done.rows_affected())
        });
        let done = done.await;
        conn.done(done)
    }

    /// Returns the statements of a filter.
    pub(super) fn filters<'a>(&'a self, filter: &'a Filter) -> Filters<'a> {
        Filters { now: NOW, elements: ELEMENTS, namespace: self.name(), filter }
    }
}

/// Writes the rows of a thread in one transaction. Returns the version of the thread that there is.
async fn import(
    conn: &mut PgConnection,
    limit: Limit,
    namespace: &str,
    key: &ThreadKey,
    rows: &ImportRows,
) -> Result<Option<i64>, sqlx::Error> {
    let mut step = begin(conn, limit).await?;
    let imported = write_thread(&mut step, namespace, key, rows).await;
    match imported {
        Ok(None) => step.commit().await.map(|()| None),
        refused => step.rollback().await.and(refused),
    }
}

async fn write_thread(
    step: &mut PgConnection,
    namespace: &str,
    key: &ThreadKey,
    rows: &ImportRows,
) -> Result<Option<i64>, sqlx::Error> {
    let begun = sqlx::query(IMPORT)
        .bind(random_id())
        .bind(namespace)
        .bind(key.agent())
        .bind(key.thread())
        .bind(rows.version)
        .bind(rows.next)
        .bind(rows.user.as_deref())
        .fetch_all(&mut *step)
        .await?;
    let Some(begun) = begun.first() else {
        let found = sqlx::query(VERSION).bind(namespace).bind(key.agent()).bind(key.thread());
        return found.fetch_one(&mut *step).await?.int(0).map(Some);
    };
    let id = begun.int(0)?;
    let ImportRows { messages, values, .. } = rows;
    sqlx::query(IMPORT_MESSAGES)
        .bind(id)
        .bind(messages.iter().map(|(seq, ..)| *seq).collect::<Vec<_>>())
        .bind(messages.iter().map(|(_, place, ..)| *place).collect::<Vec<_>>())
        .bind(messages.iter().map(|(.., archived, _)| *archived).collect::<Vec<_>>())
        .bind(messages.iter().map(|(.., body)| body.clone()).collect::<Vec<_>>())
        .execute(&mut *step)
        .await?;
    sqlx::query(IMPORT_VALUES)
        .bind(id)
        .bind(values.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
        .bind(values.iter().map(|(_, body)| body.clone()).collect::<Vec<_>>())
        .execute(&mut *step)
        .await?;
    Ok(None)
}
