//! Threads as a whole.

use std::sync::Arc;

use hooks_agent_core::store::{
    Filter, HistoryRow, Lease, StoreError, ThreadInfo, ThreadKey, ThreadRecord,
};
use serde_json::{Map, Value};
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use crate::store::sql::{
    Columns, Filters, ImportRows, filtered, history_row, random_id, thread_info, thread_record,
    unsigned, value_of, write_json,
};
use crate::store::sqlite::statements::{
    ELEMENTS, HISTORY, IMPORT, IMPORT_MESSAGES, IMPORT_VALUES, LOAD, NOW, VALUES, VERSION,
};
use crate::store::sqlite::store::SqliteStore;

impl SqliteStore {
    pub(super) async fn load_thread(&self, lease: &Lease) -> Result<ThreadRecord, StoreError> {
        let mut conn = self.connections().readers.get().await?;
        let rows = sqlx::query(LOAD).bind(lease.row).bind(self.name()).fetch_all(&mut *conn).await;
        thread_record(lease, &conn.done(rows)?)
    }

    pub(super) async fn thread_list(&self, filter: &Filter) -> Result<Vec<ThreadInfo>, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(Vec::new());
        }
        let mut conn = self.connections().readers.get().await?;
        let rows = filtered!(filters.threads()).fetch_all(&mut *conn).await;
        conn.done(rows)?.iter().map(thread_info).collect()
    }

    pub(super) async fn all_messages(
        &self,
        key: &ThreadKey,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let mut conn = self.connections().readers.get().await?;
        let rows = sqlx::query(HISTORY)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .fetch_all(&mut *conn)
            .await;
        conn.done(rows)?.iter().map(|row| history_row(key, row)).collect()
    }

    pub(super) async fn all_values(
        &self,
        key: &ThreadKey,
    ) -> Result<Map<String, Value>, StoreError> {
        let mut conn = self.connections().readers.get().await?;
        let rows = sqlx::query(VALUES)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .fetch_all(&mut *conn)
            .await;
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
        let (messages, values) = (write_json(&rows.messages)?, write_json(&rows.values)?);
        let mut conn = self.connections().writer.get().await?;
        let imported = import(&mut conn, self.name(), key, &rows, [messages, values]).await;
        match conn.done(imported)? {
            None => Ok(()),
            Some(version) => Err(StoreError::Conflict {
                thread: key.clone(),
                expected: 0,
                found: unsigned(version),
            }),
        }
    }

    pub(super) async fn forget_threads(&self, filter: &Filter) -> Result<u64, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(0);
        }
        let mut conn = self.connections().writer.get().await?;
        let done = filtered!(filters.forget()).execute(&mut *conn).await;
        conn.done(done).map(|done| done.rows_affected())
    }

    /// Returns the statements of a filter.
    pub(super) fn filters<'a>(&'a self, filter: &'a Filter) -> Filters<'a> {
        Filters { now: NOW, elements: ELEMENTS, namespace: self.name(), filter }
    }
}

/// Writes the rows of a thread in one transaction. Returns the version of the thread that there is.
async fn import(
    conn: &mut SqliteConnection,
    namespace: &str,
    key: &ThreadKey,
    rows: &ImportRows,
    lists: [String; 2],
) -> Result<Option<i64>, sqlx::Error> {
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await?;
    let imported = write_thread(&mut step, namespace, key, rows, lists).await;
    match imported {
        Ok(None) => step.commit().await.map(|()| None),
        refused => step.rollback().await.and(refused),
    }
}

async fn write_thread(
    step: &mut SqliteConnection,
    namespace: &str,
    key: &ThreadKey,
    rows: &ImportRows,
    [messages, values]: [String; 2],
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
    sqlx::query(IMPORT_MESSAGES).bind(id).bind(messages).execute(&mut *step).await?;
    sqlx::query(IMPORT_VALUES).bind(id).bind(values).execute(&mut *step).await?;
    Ok(None)
}
