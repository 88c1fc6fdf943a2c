//! Changes of sums by runs that are added.

use std::collections::BTreeMap;
use std::sync::Arc;

use hooks_agent_core::store::{KeptRun, RunSums, RunTotal, StoreError};

use crate::database::{List, signed};
use crate::store::rows::{read_json, write_json};

/// The lengths of the spans that have sums, in milliseconds.
const SPANS: [u64; 2] = [RunSums::HOUR, DAY];

/// A day, in milliseconds.
pub(super) const DAY: u64 = 24 * RunSums::HOUR;

/// The largest value, so that all databases and JSON have it.
const LARGEST: u64 = (1 << 53) - 1;

/// Kind, name and metric.
pub(super) type Series = (Arc<str>, Arc<str>, Arc<str>);

/// The changes of sums, by span, begin and what is counted.
#[derive(Debug, Default)]
pub(super) struct Differences(BTreeMap<(u64, u64, Series), i64>);

impl Differences {
    /// Counts the totals of a run that began at a time, or takes them back.
    pub(super) fn count(&mut self, started: u64, totals: &[RunTotal], is_taken_back: bool) {
        for RunTotal { kind, name, metric, value, .. } in totals {
            let value = signed(*value);
            let value = if is_taken_back { -value } else { value };
            for span in SPANS {
                let series = (kind.clone(), name.clone(), metric.clone());
                let sum = self.0.entry((span, started - started % span, series)).or_default();
                *sum = sum.saturating_add(value);
            }
        }
    }

    /// Leaves out what does not change.
    pub(super) fn only_changes(mut self) -> Self {
        self.0.retain(|_, value| *value != 0);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the columns of kinds, names and metrics, each once.
    pub(super) fn series(&self) -> Vec<List<'_>> {
        let mut all: Vec<&Series> = self.0.keys().map(|(_, _, series)| series).collect();
        all.sort_unstable();
        all.dedup();
        vec![
            List::texts(all.iter().map(|(kind, ..)| &**kind)),
            List::texts(all.iter().map(|(_, name, _)| &**name)),
            List::texts(all.iter().map(|(.., metric)| &**metric)),
        ]
    }

    /// Returns the columns of spans, begins, kinds, names, metrics and values.
    pub(super) fn columns(&self) -> Vec<List<'_>> {
        let keys = || self.0.keys();
        vec![
            List::ints(keys().map(|(span, ..)| signed(*span))),
            List::ints(keys().map(|(_, at, _)| signed(*at))),
            List::texts(keys().map(|(.., (kind, ..))| &**kind)),
            List::texts(keys().map(|(.., (_, name, _))| &**name)),
            List::texts(keys().map(|(.., (.., metric))| &**metric)),
            List::ints(self.0.values().copied()),
        ]
    }
}

/// Returns the totals of a run as they are counted: each once, in order, without those of nothing.
pub(super) fn counted(run: &KeptRun) -> Vec<RunTotal> {
    let mut sums: BTreeMap<Series, u64> = BTreeMap::new();
    for RunTotal { kind, name, metric, value, .. } in &run.totals {
        let sum = sums.entry((kind.clone(), name.clone(), metric.clone())).or_default();
        *sum = sum.saturating_add(*value).min(LARGEST);
    }
    sums.retain(|_, value| *value > 0);
    let total =
        |((kind, name, metric), value): (Series, u64)| RunTotal::new(kind, name, metric, value);
    sums.into_iter().map(total).collect()
}

/// Writes totals as JSON.
pub(super) fn totals_json(totals: &[RunTotal]) -> Result<String, StoreError> {
    let rows = totals.iter().map(|it| ((&it.kind, &it.name, &it.metric), it.value));
    write_json(&rows.collect::<Vec<_>>())
}

/// Reads totals as JSON.
pub(super) fn totals_of(json: &str) -> Result<Vec<RunTotal>, StoreError> {
    let rows: Vec<(Series, u64)> = read_json("the totals of a run", json)?;
    let total =
        |((kind, name, metric), value): (Series, u64)| RunTotal::new(kind, name, metric, value);
    Ok(rows.into_iter().map(total).collect())
}
