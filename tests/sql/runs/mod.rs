//! Runs that are kept in a store.

mod forgotten;
mod kept;
mod lists;
mod migrated;
mod sums;
mod words;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{KeptRun, RunFilter, RunHistory};

use crate::backend::Shared;

/// When the runs of tests begin: an hour, and no day.
pub(crate) const NOON: u64 = 1_700_006_400_000;

/// Returns the runs of a store.
pub(crate) fn runs(store: &Shared) -> &dyn RunHistory {
    store.run_history().unwrap()
}

/// Returns a run of this name.
pub(crate) fn run(name: &str, started: u64) -> KeptRun {
    let mut run = KeptRun::new(RunId::named(name), "clerk", "ada", started);
    run.summary = format!("\"{name}\"");
    run.entries = format!("[\"{name}\"]");
    run
}

/// Returns the names of the runs of a page.
pub(crate) async fn listed(store: &Shared, filter: RunFilter) -> Vec<String> {
    let page = runs(store).list(filter).await.unwrap();
    page.summaries.iter().map(|name| name.trim_matches('"').to_owned()).collect()
}
