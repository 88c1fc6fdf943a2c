//! Removes runs.

use std::time::Duration;

use hooks_agent_core::store::{Filter, StoreError};
use tokio::time::{Instant, sleep};

use crate::database::{Access, Columns, DatabaseError, List, Statement, signed};
use crate::store::connections::Connections;
use crate::store::runs::filter::others;
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

/// How many runs a transaction removes.
const BATCH: u64 = 20;

/// The shortest pause after a batch: others that wait for the database try again within it.
const SHORTEST_PAUSE: Duration = Duration::from_millis(120);

/// Removes runs in batches until one is not full, with pauses in which others write. Returns how many.
pub(crate) async fn in_batches<F>(mut remove: impl FnMut() -> F) -> Result<u64, StoreError>
where
    F: Future<Output = Result<u64, StoreError>>,
{
    let mut count = 0;
    loop {
        let began = Instant::now();
        let some = remove().await?;
        count += some;
        if some < BATCH {
            return Ok(count);
        }
        sleep(began.elapsed().max(SHORTEST_PAUSE)).await;
    }
}

/// The runs of threads, an agent and a thread each, and of a filter, with those below them.
pub(crate) struct RunsOf<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) threads: &'a [(String, String)],
    /// Whether runs of the filter stay whose threads have open questions.
    pub(crate) keeps_waiting: bool,
}

impl<D: Statements> SqlStore<D> {
    /// Removes a batch of runs in a transaction. Those below others go first, as they are found by them.
    pub(crate) async fn remove_some_runs(
        &self,
        step: &mut D::Connection,
        of: &RunsOf<'_>,
    ) -> Result<u64, DatabaseError> {
        let mut runs = self.numbers(step, of).await?;
        let rest = runs.len().saturating_sub(usize::try_from(BATCH).unwrap_or(usize::MAX));
        self.remove_numbers(step, runs.split_off(rest)).await
    }

    /// Removes runs in the transaction that removes their threads or the history of these. Locks the runs, which
    /// comes last of all locks.
    pub(crate) async fn remove_runs(
        &self,
        step: &mut D::Connection,
        of: &RunsOf<'_>,
    ) -> Result<u64, DatabaseError> {
        self.lock_runs(step).await?;
        let runs = self.numbers(step, of).await?;
        self.remove_numbers(step, runs).await
    }

    /// Returns the numbers of runs, each before those below it.
    async fn numbers(
        &self,
        step: &mut D::Connection,
        of: &RunsOf<'_>,
    ) -> Result<Vec<i64>, DatabaseError> {
        let RunsOf { filter, threads, keeps_waiting } = of;
        let mut rows = Vec::new();
        if !threads.is_empty() {
            let of_threads = Statement::new(D::RUNS_OF_THREADS).bind(self.name()).bind(vec![
                List::texts(threads.iter().map(|(agent, _)| agent)),
                List::texts(threads.iter().map(|(_, thread)| thread)),
            ]);
            rows.extend(D::fetch(step, of_threads).await?);
        }
        if let Some(others) = others(D::NOW, self.name(), filter, *keeps_waiting) {
            rows.extend(D::fetch(step, others).await?);
        }
        rows.iter().map(|row| row.int(0)).collect()
    }

    async fn remove_numbers(
        &self,
        step: &mut D::Connection,
        runs: Vec<i64>,
    ) -> Result<u64, DatabaseError> {
        if runs.is_empty() {
            return Ok(0);
        }
        D::execute(step, Statement::new(D::REMOVE_RUNS).bind(List::ints(runs))).await
    }

    /// Removes what is counted of users who are forgotten, in the transaction that does that.
    pub(crate) async fn forget_users(
        &self,
        step: &mut D::Connection,
        filter: &Filter,
    ) -> Result<(), DatabaseError> {
        let is_of_all = filter.is_of_namespace()
            && filter.unused_for.is_none()
            && filter.limit.is_none()
            && !filter.is_cut_off;
        if filter.is_of_user() || is_of_all {
            let users = Statement::new(D::FORGET_USERS).bind(self.name());
            D::execute(step, users.bind(filter.user.as_deref())).await?;
        }
        Ok(())
    }

    /// Removes a batch of the runs that began before a time.
    pub(super) async fn prune_some_runs(&self, before: u64) -> Result<u64, StoreError> {
        self.change_runs([self.prune_statement(before, BATCH)]).await
    }

    /// Removes the sums of days that ended before a time, with the runs in them that were added meanwhile. Returns how
    /// many runs.
    pub(super) async fn prune_sums(&self, before: u64) -> Result<u64, StoreError> {
        let totals = Statement::new(D::PRUNE_TOTALS).bind(self.name()).bind(signed(before));
        let series = Statement::new(D::PRUNE_SERIES).bind(self.name());
        self.change_runs([self.prune_statement(before, u64::MAX), totals, series]).await
    }

    fn prune_statement(&self, before: u64, most: u64) -> Statement<'_> {
        let prune = Statement::new(D::PRUNE_RUNS).bind(self.name());
        prune.bind(signed(before)).bind(signed(most))
    }

    /// Runs statements in a transaction that nobody else adds runs in, and returns how many rows the first
    /// one changed.
    async fn change_runs<const N: usize>(
        &self,
        statements: [Statement<'_>; N],
    ) -> Result<u64, StoreError> {
        let Connections { writer, maintenance: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let changed = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, Some(*limit)).await?;
            self.lock_runs(&mut step).await?;
            let mut counts = Vec::with_capacity(N);
            for statement in statements {
                counts.push(D::execute(&mut step, statement).await?);
            }
            step.commit().await?;
            Ok(counts.first().copied().unwrap_or_default())
        });
        let changed = changed.await;
        Ok(conn.done(changed)?)
    }
}
