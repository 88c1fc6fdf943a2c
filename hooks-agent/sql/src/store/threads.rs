//! Threads as a whole.

use std::sync::Arc;

use hooks_agent_core::store::{
    Filter, HistoryRow, Lease, StoreError, ThreadInfo, ThreadKey, ThreadRecord,
};
use serde_json::{Map, Value};

use crate::database::{
    Access, Columns, DatabaseError, Limit, List, Statement, random_id, unsigned,
};
use crate::store::connections::Connections;
use crate::store::rows::{Filters, ImportRows, history_row, thread_info, thread_record, value_of};
use crate::store::runs::{RunsOf, in_batches};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    pub(crate) async fn load_thread(&self, lease: &Lease) -> Result<ThreadRecord, StoreError> {
        let load = Statement::new(D::LOAD).bind(lease.row).bind(self.name());
        thread_record(lease, &self.fetch(Access::Read, load).await?)
    }

    pub(crate) async fn thread_list(&self, filter: &Filter) -> Result<Vec<ThreadInfo>, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(Vec::new());
        }
        self.fetch(Access::Read, filters.threads()).await?.iter().map(thread_info).collect()
    }

    pub(crate) async fn all_messages(
        &self,
        key: &ThreadKey,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let history = self.of_thread(D::HISTORY, key);
        let rows = self.fetch(Access::Read, history).await?;
        rows.iter().map(|row| history_row(key, row)).collect()
    }

    pub(crate) async fn all_values(
        &self,
        key: &ThreadKey,
    ) -> Result<Map<String, Value>, StoreError> {
        let values = self.of_thread(D::VALUES, key);
        let rows = self.fetch(Access::Read, values).await?;
        rows.iter().map(|row| value_of(key, row, (0, 1))).collect()
    }

    pub(crate) async fn import_thread(
        &self,
        key: &ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> Result<(), StoreError> {
        let rows = ImportRows::of(&rows, &values, user)?;
        let Connections { writer, maintenance: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let imported = limit.run(self.import(&mut conn, *limit, key, &rows)).await;
        match conn.done(imported)? {
            None => Ok(()),
            Some(version) => Err(StoreError::Conflict {
                thread: key.clone(),
                expected: 0,
                found: unsigned(version),
            }),
        }
    }

    /// Removes threads in one transaction, and most of their runs in small ones before it.
    pub(crate) async fn forget_threads(&self, filter: Filter) -> Result<u64, StoreError> {
        if self.filters(&filter).is_of_nothing() {
            return Ok(0);
        }
        let some = || self.forget_some_runs(&filter);
        in_batches(|| self.repeat("forgetting runs", Access::Write, some)).await?;
        let forget = || self.forget_at_once(&filter);
        self.repeat("forgetting threads", Access::Write, forget).await
    }

    /// Removes a batch of the runs of threads that are forgotten after it.
    async fn forget_some_runs(&self, filter: &Filter) -> Result<u64, StoreError> {
        let Connections { writer, maintenance: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let removed = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, Some(*limit)).await?;
            self.lock_runs(&mut step).await?;
            let threads = names(&D::fetch(&mut step, self.filters(filter).forgettable()).await?)?;
            let of = RunsOf { filter, threads: &threads, keeps_waiting: false };
            let count = self.remove_some_runs(&mut step, &of).await?;
            step.commit().await?;
            Ok(count)
        });
        let removed = removed.await;
        Ok(conn.done(removed)?)
    }

    async fn forget_at_once(&self, filter: &Filter) -> Result<u64, StoreError> {
        let Connections { writer, statement, maintenance, .. } = self.connections();
        let is_one = filter.agent.is_some() && filter.thread.is_some();
        let limit = if is_one { statement } else { maintenance };
        let mut conn = writer.get().await?;
        let done = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, Some(*limit)).await?;
            let threads = names(&D::fetch(&mut step, self.filters(filter).forget()).await?)?;
            self.forget_approvals(&mut step, filter).await?;
            let of = RunsOf { filter, threads: &threads, keeps_waiting: false };
            self.remove_runs(&mut step, &of).await?;
            self.forget_users(&mut step, filter).await?;
            step.commit().await?;
            Ok(threads.len() as u64)
        });
        let done = done.await;
        Ok(conn.done(done)?)
    }

    /// Returns the statements of a filter.
    pub(crate) fn filters<'a>(&'a self, filter: &'a Filter) -> Filters<'a> {
        Filters { now: D::NOW, elements: D::ELEMENTS, namespace: self.name(), filter }
    }

    /// Returns a statement whose first parameters are the name of a thread.
    pub(crate) fn of_thread<'a>(&'a self, sql: &'static str, key: &'a ThreadKey) -> Statement<'a> {
        Statement::new(sql).bind(self.name()).bind(key.agent()).bind(key.thread())
    }

    /// Writes the rows of a thread in one transaction. Returns the version of the thread that there is.
    async fn import(
        &self,
        conn: &mut D::Connection,
        limit: Limit,
        key: &ThreadKey,
        rows: &ImportRows,
    ) -> Result<Option<i64>, DatabaseError> {
        let mut step = D::begin(conn, Access::Write, Some(limit)).await?;
        let found = self.write_thread(&mut step, key, rows).await?;
        match found {
            None => step.commit().await?,
            Some(_) => step.rollback().await?,
        }
        Ok(found)
    }

    async fn write_thread(
        &self,
        step: &mut D::Connection,
        key: &ThreadKey,
        rows: &ImportRows,
    ) -> Result<Option<i64>, DatabaseError> {
        let import = Statement::new(D::IMPORT)
            .bind(random_id())
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(rows.version)
            .bind(rows.next)
            .bind(rows.user.as_deref());
        let begun = D::fetch(step, import).await?;
        let Some(begun) = begun.first() else {
            let found = D::fetch(step, self.of_thread(D::VERSION, key)).await?;
            return found.first().map_or(Ok(0), |row| row.int(0)).map(Some);
        };
        let id = begun.int(0)?;
        let ImportRows { messages, values, .. } = rows;
        let write = Statement::new(D::IMPORT_MESSAGES).bind(id).bind(vec![
            List::ints(messages.iter().map(|(seq, ..)| *seq)),
            List::ints(messages.iter().map(|(_, place, ..)| *place)),
            List::Ints(messages.iter().map(|(.., archived, _)| *archived).collect()),
            List::texts(messages.iter().map(|(.., body)| body)),
        ]);
        D::execute(step, write).await?;
        let write = Statement::new(D::IMPORT_VALUES).bind(id).bind(vec![
            List::texts(values.iter().map(|(name, _)| name)),
            List::texts(values.iter().map(|(_, body)| body)),
        ]);
        D::execute(step, write).await?;
        Ok(None)
    }
}

/// Returns agents and threads.
fn names(rows: &[impl Columns]) -> Result<Vec<(String, String)>, DatabaseError> {
    rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
}
