//! The runs of a store.

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{
    KeptRun, RunFilter, RunHistory, RunPage, RunSums, StoreFuture, SummedTotal,
};

use crate::database::Access;
use crate::store::runs::add::run_rows;
use crate::store::runs::differences::DAY;
use crate::store::runs::remove::in_batches;
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> RunHistory for SqlStore<D> {
    fn add(&self, runs: Vec<KeptRun>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let rows = run_rows(&runs)?;
            self.repeat("adding runs", Access::Write, || self.add_runs(&rows, true)).await
        })
    }

    fn change(&self, runs: Vec<KeptRun>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let rows = run_rows(&runs)?;
            let change = || self.add_runs(&rows, false);
            self.repeat("changing runs", Access::Write, change).await
        })
    }

    fn list(&self, filter: RunFilter) -> StoreFuture<'_, RunPage> {
        Box::pin(async move {
            self.repeat("listing runs", Access::Read, || self.page_of_runs(&filter)).await
        })
    }

    fn get(&self, run: RunId) -> StoreFuture<'_, Option<KeptRun>> {
        self.repeat("reading a run", Access::Read, move || self.one_run(run))
    }

    fn below(&self, run: RunId) -> StoreFuture<'_, Vec<KeptRun>> {
        self.repeat("reading runs", Access::Read, move || self.runs_below(run))
    }

    fn totals(&self, sums: RunSums) -> StoreFuture<'_, Vec<SummedTotal>> {
        Box::pin(async move {
            self.repeat("reading sums of runs", Access::Read, || self.sums_of_runs(&sums)).await
        })
    }

    fn prune_runs(&self, before: u64) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let before = before - before % DAY;
            let prune =
                || self.repeat("pruning runs", Access::Write, move || self.prune_some_runs(before));
            let count = in_batches(prune).await?;
            let prune = || self.prune_sums(before);
            Ok(count + self.repeat("pruning sums of runs", Access::Write, prune).await?)
        })
    }
}
