//! The numbers of runs by time.

use serde::Serialize;

use crate::overview::rows::cost;
use crate::prices::Money;
use crate::totals::{Counts, Metric};

/// A part of the time.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Step {
    at: u64,
    runs: u64,
    failed: u64,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
}

/// Numbers of all runs by the time when they began, in steps of one length.
#[derive(Debug)]
pub(crate) struct Steps {
    first: u64,
    step: u64,
    counts: Vec<Counts>,
}

impl Steps {
    /// Has steps of this length, up to this time.
    pub(crate) fn new(first: u64, until: u64, step: u64) -> Self {
        let step = step.max(1);
        let count = usize::try_from(until.saturating_sub(first).div_ceil(step)).unwrap_or(1);
        Self { first, step, counts: vec![Counts::default(); count.clamp(1, MOST)] }
    }

    /// Returns the step of a time; the first or the last one for others.
    pub(crate) fn at(&mut self, time: u64) -> &mut Counts {
        let index = usize::try_from(time.saturating_sub(self.first) / self.step);
        let last = self.counts.len() - 1;
        &mut self.counts[index.unwrap_or(last).min(last)]
    }

    pub(super) fn shown(&self, has_prices: bool) -> Vec<Step> {
        let steps = (self.first..).step_by(usize::try_from(self.step).unwrap_or(usize::MAX));
        let step = |(at, counts): (u64, &Counts)| Step {
            at,
            runs: counts.get(&Metric::Runs),
            failed: counts.get(&Metric::Failed),
            tokens: counts.get(&Metric::Tokens),
            cost: cost(counts, has_prices),
        };
        steps.zip(&self.counts).map(step).collect()
    }
}

/// The most steps.
const MOST: usize = 2_400;
