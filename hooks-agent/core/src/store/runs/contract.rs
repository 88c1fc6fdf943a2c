//! The interface between those who watch agents and stores.

use std::fmt;

use crate::run_id::RunId;
use crate::store::contract::StoreFuture;
use crate::store::runs::filter::{RunFilter, RunPage};
use crate::store::runs::run::KeptRun;
use crate::store::runs::total::{RunSums, SummedTotal};

/// The runs that a [store](crate::store::Store::run_history) keeps, of its namespace alone.
///
/// They are written by whoever watches agents, such as a studio, and not by calls: what is said here of a run is
/// what that one has said of it. The times of runs are those of the watcher.
///
/// [`forget`](crate::store::Store::forget) and [`prune`](crate::store::Store::prune) of threads remove the runs of
/// these threads too, and those below them.
///
/// ```
/// use hooks_agent::call::RunId;
/// use hooks_agent::store::{KeptRun, RunFilter, RunHistory, RunSums, RunTotal, StoreError};
///
/// async fn keep(history: &dyn RunHistory) -> Result<(), StoreError> {
///     let mut run = KeptRun::new(RunId::random(), "clerk", "ada", 1_700_000_000_000);
///     run.user = Some("ada@example.com".into());
///     run.summary = r#"{"tokens":120}"#.into();
///     run.text = "Pay the baker".into();
///     run.totals = vec![RunTotal::new("model", "small", "tokens", 120)];
///     history.add(vec![run]).await?;
///
///     let page = history.list(RunFilter::all().user("ada@example.com").words("bak")).await?;
///     assert_eq!(page.summaries.len(), 1);
///     let hour = history.totals(RunSums::new(1_700_000_000_000, 1_700_003_600_000)).await?;
///     assert_eq!(hour[0].value, 120);
///     Ok(())
/// }
/// # #[cfg(feature = "sqlite")]
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// #     use hooks_agent::store::{SqliteStore, Store};
/// #     let folder = std::env::temp_dir().join(format!("hooks-runs-{}", std::process::id()));
/// #     std::fs::create_dir_all(&folder)?;
/// #     let store = SqliteStore::open(folder.join("agents.db")).await?;
/// #     keep(store.run_history().expect("it keeps runs")).await?;
/// #     drop(store);
/// #     std::fs::remove_dir_all(folder)?;
/// #     Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no runs",
    note = "`Store::run_history` returns what does: of `SqliteStore` and `PostgresStore`"
)]
pub trait RunHistory: fmt::Debug + Send + Sync {
    /// Writes runs in one transaction: all of them, or none. A run that is there is replaced, and its totals are
    /// counted once, as those of the last one that was added: a run may be added while it waits, and again when it
    /// ends. Of two of the same id, the later one counts.
    ///
    /// # Errors
    /// [`StoreError::Run`](crate::store::StoreError::Run) and [`StoreError::Name`](crate::store::StoreError::Name)
    /// as [`KeptRun::check`] finds it.
    fn add(&self, runs: Vec<KeptRun>) -> StoreFuture<'_, ()>;

    /// Writes runs as [`add`](Self::add) does, without those that are not there any more: what was forgotten since
    /// they were read stays forgotten.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn change(&self, runs: Vec<KeptRun>) -> StoreFuture<'_, ()>;

    /// Returns a page of runs, the newest first. No run comes twice, whatever is added meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Run`](crate::store::StoreError::Run) if too many words are searched.
    fn list(&self, filter: RunFilter) -> StoreFuture<'_, RunPage>;

    /// Returns a run.
    fn get(&self, run: RunId) -> StoreFuture<'_, Option<KeptRun>>;

    /// Returns a run and all runs below it, which have it or one of the others as their parent: in the order in
    /// which they began, of more than [`LARGEST_PAGE`](RunFilter::LARGEST_PAGE) the first ones. Empty if there is no
    /// such run.
    fn below(&self, run: RunId) -> StoreFuture<'_, Vec<KeptRun>>;

    /// Returns the sums of totals, by time, kind, name and metric. A run counts in the hour in which it began. Runs
    /// that were forgotten are still in the sums, which have nothing of their content.
    ///
    /// # Errors
    /// [`StoreError::Run`](crate::store::StoreError::Run) if the step is not a number of whole hours.
    fn totals(&self, sums: RunSums) -> StoreFuture<'_, Vec<SummedTotal>>;

    /// Removes the runs and the sums of days, in UTC, that ended before a time, in milliseconds since 1970: a run
    /// goes with the sums that it counts in. Returns how many runs. Works in many small transactions with pauses, so
    /// that others write in between.
    fn prune_runs(&self, before: u64) -> StoreFuture<'_, u64>;
}
