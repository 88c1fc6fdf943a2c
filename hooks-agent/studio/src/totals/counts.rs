//! Numbers of one thing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::totals::durations::{percentiles, range_of};
use crate::totals::metric::Metric;

/// What is counted of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(BTreeMap<Metric, u64>);

impl Counts {
    pub(crate) fn add(&mut self, metric: Metric, more: u64) {
        // What is zero is not kept.
        if more > 0 {
            let number = self.0.entry(metric).or_default();
            *number = number.saturating_add(more);
        }
    }

    pub(super) fn add_duration(&mut self, of: fn(u16) -> Metric, duration: u64) {
        self.add(of(range_of(duration)), 1);
    }

    pub(crate) fn get(&self, metric: &Metric) -> u64 {
        self.0.get(metric).copied().unwrap_or_default()
    }

    /// Returns the 50th and 95th percentile of durations.
    pub(crate) fn percentiles(&self, of: fn(u16) -> Metric) -> (Option<u64>, Option<u64>) {
        let ranges = self.0.range(of(0)..=of(u16::MAX));
        let ranges: Vec<_> = ranges
            .filter_map(|(metric, count)| match metric {
                Metric::Ms(range) | Metric::FirstMs(range) | Metric::Us(range) => {
                    Some((*range, *count))
                }
                _ => None,
            })
            .collect();
        percentiles(&ranges)
    }

    /// Returns the events at which it was.
    pub(crate) fn events(&self) -> Vec<Arc<str>> {
        let events = self.0.keys().filter_map(|metric| match metric {
            Metric::At(event) => Some(event.clone()),
            _ => None,
        });
        events.collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Metric, u64)> {
        self.0.iter().map(|(metric, number)| (metric, *number))
    }
}
