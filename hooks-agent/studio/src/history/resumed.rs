//! Runs that waited, and that another run went on with.

use std::sync::Arc;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{KeptRun, RunFilter, RunHistory, StoreError};
use serde::Deserialize;
use serde_json::Value;

use crate::ring::RunState;
use crate::totals::Of;

/// How many runs of a thread may wait.
const MOST: u32 = 100;

/// The id in a summary.
#[derive(Deserialize)]
struct Summary {
    run: RunId,
}

/// Writes of the runs of a thread that waited before this time that another one went on with them.
pub(super) async fn resumed(
    runs: &dyn RunHistory,
    (agent, thread): (&Arc<str>, &Arc<str>),
    by: RunId,
    before: u64,
) -> Result<(), StoreError> {
    let waiting = RunState::Waiting.name();
    let of_thread = RunFilter::all().agent(agent.clone()).thread(thread.clone()).state(waiting);
    let page = runs.list(of_thread.until(before).limit(MOST)).await?;
    let mut changed = Vec::new();
    for summary in page.summaries {
        let Ok(Summary { run }) = serde_json::from_str(&summary) else { continue };
        if run != by
            && let Some(mut kept) = runs.get(run).await?
        {
            mark(&mut kept, by);
            changed.push(kept);
        }
    }
    if changed.is_empty() { Ok(()) } else { runs.change(changed).await }
}

fn mark(run: &mut KeptRun, by: RunId) {
    let resumed = RunState::Resumed.name();
    run.state = resumed.into();
    if let Ok(mut summary) = serde_json::from_str::<Value>(&run.summary) {
        summary["state"] = resumed.into();
        summary["resumed_by"] = by.to_string().into();
        run.summary = summary.to_string();
    }
    for total in &mut run.totals {
        if *total.kind == *Of::State.name() {
            total.name = resumed.into();
        }
    }
}
