//! Reads the history.

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{KeptRun, RunHistory, RunSums, StoreError, SummedTotal};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::overview::{Numbers, STEPS, Steps};
use crate::ring::{Ring, now};
use crate::totals::{Of, Totals, totals_of};

const DAY: u64 = 24 * RunSums::HOUR;

/// How many days are shown at most.
const DAYS: u64 = 120;

/// From how long a time on it is counted in whole days.
const DAYS_FROM: u64 = 10 * DAY;

/// Returns the numbers of the runs that have begun since a time, in whole hours, or days of UTC. Runs that have not ended come from the
/// ring.
pub(crate) async fn overview_of(
    runs: &dyn RunHistory,
    ring: &Ring,
    since: u64,
    has_prices: bool,
) -> Result<Numbers, StoreError> {
    let until = now();
    let since = since.min(until);
    // Sums of whole days are kept too.
    let unit = if until - since < DAYS_FROM { RunSums::HOUR } else { DAY };
    let first = since - since % unit;
    let units = (until - first).div_ceil(unit).max(1);
    let all = RunSums::new(first, until).step(units * unit);
    let mut totals = Totals::default();
    for total in runs.totals(all).await? {
        add(&mut totals, total);
    }
    let step = units.div_ceil(STEPS) * unit;
    let mut steps = steps(runs, first, until, step).await?;
    let mut days = steps_of_days(runs, first, until).await?;
    for log in ring.logs() {
        let summary = log.summary();
        if summary.ended.is_none() {
            let of_run = totals_of(&summary, &log.written(), has_prices);
            for (metric, number) in of_run.all().iter() {
                steps.at(summary.started).add(metric.clone(), number);
                if summary.started >= first {
                    days.at(summary.started).add(metric.clone(), number);
                }
            }
            totals.add(&of_run);
        }
    }
    Ok(Numbers { since: first, until, totals, steps, days: Some(days) })
}

async fn steps_of_days(runs: &dyn RunHistory, first: u64, until: u64) -> Result<Steps, StoreError> {
    let last = until - until % DAY;
    let from = (first - first % DAY).max(last.saturating_sub((DAYS - 1) * DAY));
    steps(runs, from, until, DAY).await
}

async fn steps(
    runs: &dyn RunHistory,
    first: u64,
    until: u64,
    step: u64,
) -> Result<Steps, StoreError> {
    let mut steps = Steps::new(first, until, step);
    let of_all = RunSums::new(first, until).step(step).kind(Of::All.name());
    for SummedTotal { at, metric, value, .. } in runs.totals(of_all).await? {
        if let Ok(metric) = metric.parse() {
            steps.at(at).add(metric, value);
        }
    }
    Ok(steps)
}

fn add(totals: &mut Totals, total: SummedTotal) {
    let SummedTotal { kind, name, metric, value, .. } = total;
    // What a later program counts is not shown.
    if let (Some(of), Ok(metric)) = (Of::named(&kind), metric.parse()) {
        totals.of(of, name).add(metric, value);
    }
}

/// Returns a run with the runs below it, as the page reads it; nothing if it is not kept.
pub(crate) async fn tree_of(
    runs: &dyn RunHistory,
    run: RunId,
) -> Result<Option<String>, StoreError> {
    let kept = runs.below(run).await?;
    if kept.is_empty() {
        return Ok(None);
    }
    let summaries: Vec<&str> = kept.iter().map(|run| &*run.summary).collect();
    let entries = match kept.as_slice() {
        [one] => one.entries.clone(),
        several => in_order(several),
    };
    let summaries = summaries.join(",");
    Ok(Some(format!(
        "{{\"seq\":0,\"from\":\"history\",\"runs\":[{summaries}],\"entries\":{entries}}}"
    )))
}

/// Returns the entries of several runs in the order of their numbers.
fn in_order(runs: &[KeptRun]) -> String {
    let read = |run| serde_json::from_str::<Vec<&RawValue>>(run).unwrap_or_default();
    let mut entries: Vec<_> =
        runs.iter().flat_map(|run| read(&run.entries)).map(RawValue::get).collect();
    entries.sort_by_cached_key(|entry| serde_json::from_str(entry).map_or(0, |Entry { seq }| seq));
    format!("[{}]", entries.join(","))
}

/// The number of an entry.
#[derive(Deserialize)]
struct Entry {
    seq: u64,
}
