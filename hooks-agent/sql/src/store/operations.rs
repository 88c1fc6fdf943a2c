//! Operations of operators.

use std::collections::HashSet;

use hooks_agent_core::store::{Filter, StoreError, StoreReport};

use crate::database::{Access, Columns, DatabaseError, Limit, List, Statement};
use crate::store::connections::Connections;
use crate::store::rows::store_report;
use crate::store::runs::{RunsOf, in_batches};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

/// The threads whose history is removed.
struct Pruned<'a> {
    filter: &'a Filter,
    /// The filter without its limit.
    unlimited: Filter,
    /// The threads within the limit, if there is one.
    threads: Option<HashSet<i64>>,
}

impl<D: Statements> SqlStore<D> {
    /// Removes the history of threads in one transaction, and most of their runs in small ones before it.
    pub(crate) async fn prune_threads(&self, filter: Filter) -> Result<u64, StoreError> {
        if self.filters(&filter).is_of_nothing() {
            return Ok(0);
        }
        let mut pruned = Pruned { filter: &filter, unlimited: filter.clone(), threads: None };
        if filter.limit.is_some() {
            // A thread whose runs have gone has no history for the next batch, and must not make place for others.
            let choose = || self.choose(&filter);
            let chosen = self.repeat("reading threads", Access::Read, choose).await?;
            pruned.threads = Some(chosen);
            pruned.unlimited.limit = None;
        }
        let some = || self.prune_some(&pruned);
        let runs = in_batches(|| self.repeat("pruning runs", Access::Write, some)).await?;
        let prune = || self.prune_rest(&pruned);
        Ok(runs + self.repeat("pruning threads", Access::Write, prune).await?)
    }

    /// Returns the ids of the threads within the limit of a filter.
    async fn choose(&self, filter: &Filter) -> Result<HashSet<i64>, StoreError> {
        let rows = self.fetch(Access::Read, self.filters(filter).prunable()).await?;
        Ok(rows.iter().map(|row| row.int(0)).collect::<Result<_, DatabaseError>>()?)
    }

    /// Removes a batch of the runs of threads that are pruned after it.
    async fn prune_some(&self, pruned: &Pruned<'_>) -> Result<u64, StoreError> {
        let Connections { writer, maintenance: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let removed = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, Some(*limit)).await?;
            self.lock_runs(&mut step).await?;
            let (_, threads) = self.prunable(&mut step, pruned).await?;
            let of = RunsOf { filter: pruned.filter, threads: &threads, keeps_waiting: true };
            let count = self.remove_some_runs(&mut step, &of).await?;
            step.commit().await?;
            Ok(count)
        });
        let removed = removed.await;
        Ok(conn.done(removed)?)
    }

    async fn prune_rest(&self, pruned: &Pruned<'_>) -> Result<u64, StoreError> {
        let Connections { writer, maintenance: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let removed = limit.run(self.prune(&mut conn, *limit, pruned)).await;
        Ok(conn.done(removed)?)
    }

    async fn prune(
        &self,
        conn: &mut D::Connection,
        limit: Limit,
        pruned: &Pruned<'_>,
    ) -> Result<u64, DatabaseError> {
        let filter = pruned.filter;
        let mut step = D::begin(conn, Access::Write, Some(limit)).await?;
        let (ids, threads) = self.prunable(&mut step, pruned).await?;
        let mut count = 0;
        for sql in D::PRUNE {
            let statement = Statement::new(sql).bind(List::ints(ids.iter().copied()));
            count += D::execute(&mut step, statement).await?;
        }
        if filter.is_of_namespace() {
            let quotas = Statement::new(D::PRUNE_QUOTAS).bind(self.name());
            count += D::execute(&mut step, quotas).await?;
            D::execute(&mut step, Statement::new(D::PRUNE_SUMS).bind(self.name())).await?;
            let approvals = Statement::new(D::PRUNE_APPROVALS).bind(self.name());
            count += D::execute(&mut step, approvals).await?;
        }
        let of = RunsOf { filter, threads: &threads, keeps_waiting: true };
        count += self.remove_runs(&mut step, &of).await?;
        step.commit().await?;
        Ok(count)
    }

    /// Returns the ids of threads that have history, and the names of those whose runs go too.
    async fn prunable(
        &self,
        step: &mut D::Connection,
        pruned: &Pruned<'_>,
    ) -> Result<(Vec<i64>, Vec<(String, String)>), DatabaseError> {
        let (mut ids, mut threads) = (Vec::new(), Vec::new());
        for row in D::fetch(step, self.filters(&pruned.unlimited).prunable()).await? {
            let id = row.int(0)?;
            if pruned.threads.as_ref().is_none_or(|chosen| chosen.contains(&id)) {
                ids.push(id);
                if row.int(3)? == 0 {
                    threads.push((row.text(1)?, row.text(2)?));
                }
            }
        }
        Ok((ids, threads))
    }

    pub(crate) async fn count_rows(&self) -> Result<StoreReport, StoreError> {
        let Connections { reader, maintenance: limit, .. } = self.connections();
        let mut conn = reader.get().await?;
        let counted = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Read, Some(*limit)).await?;
            let count = Statement::new(D::REPORT).bind(self.name());
            let rows = D::fetch(&mut step, count).await?;
            step.commit().await?;
            Ok(rows)
        });
        let counted = counted.await;
        let rows = conn.done(counted)?;
        let row = rows.first().ok_or(DatabaseError::from(sqlx::Error::RowNotFound))?;
        store_report(row)
    }
}
