//! The report of the first view.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::overview::rows::{HookRow, ModelRow, RunRow, ToolRow};
use crate::overview::steps::{Step, Steps};
use crate::prices::{Money, Prices};
use crate::ring::{Ring, RunState, now};
use crate::totals::{Counts, Metric, Of, Totals, totals_of};

/// How many steps of time there are at most.
pub(crate) const STEPS: u64 = 48;

/// What the runs that were there since a time come to.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    since: u64,
    until: u64,
    /// Where the numbers come from.
    source: &'static str,
    runs: BTreeMap<Arc<str>, u64>,
    tokens: Tokens,
    cost: Option<Cost>,
    calls: Calls,
    agents: Vec<RunRow>,
    models: Vec<ModelRow>,
    tools: Vec<ToolRow>,
    users: Vec<RunRow>,
    hooks: Vec<HookRow>,
    by_time: Vec<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    days: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
}

#[derive(Debug, Serialize)]
struct Cost {
    total: Money,
    currency: Arc<str>,
    /// Calls of models without a price.
    unpriced: u64,
}

#[derive(Debug, Serialize)]
struct Calls {
    count: u64,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
}

/// The numbers of an overview.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) since: u64,
    pub(crate) until: u64,
    pub(crate) totals: Totals,
    pub(crate) steps: Steps,
    pub(crate) days: Option<Steps>,
}

impl Overview {
    /// Reads the ring. Runs that have begun since `since` count, and those that have not ended.
    pub(crate) fn of(ring: &Ring, prices: Option<&Prices>, since: u64) -> Self {
        let until = now();
        let since = since.min(until);
        let steps = Steps::new(since, until, (until - since).div_ceil(STEPS));
        let mut numbers = Numbers { since, until, totals: Totals::default(), steps, days: None };
        for log in ring.logs() {
            let summary = log.summary();
            if summary.started < since && summary.ended.is_some() {
                continue;
            }
            let of_run = totals_of(&summary, &log.written(), prices.is_some());
            let step = numbers.steps.at(summary.started);
            for (metric, number) in of_run.all().iter() {
                step.add(metric.clone(), number);
            }
            numbers.totals.add(&of_run);
        }
        numbers.shown("ring", prices)
    }
}

impl Numbers {
    pub(crate) fn shown(&self, source: &'static str, prices: Option<&Prices>) -> Overview {
        let has_prices = prices.is_some();
        let all = self.totals.all();
        let count = all.get(&Metric::Runs);
        let (p50_ms, p95_ms) = all.percentiles(Metric::Ms);
        let cost = prices.map(|prices| Cost {
            total: Money::of_millionths(all.get(&Metric::Cost)),
            currency: prices.currency.clone(),
            unpriced: all.get(&Metric::Unpriced),
        });
        let run_row = |name: &Arc<str>, counts: &Counts| RunRow::of(name, counts, has_prices);
        let model_row = |name: &Arc<str>, counts: &Counts| ModelRow::of(name, counts, has_prices);
        let tool_row = |name: &Arc<str>, counts: &Counts| ToolRow::of(name, counts, has_prices);
        Overview {
            since: self.since,
            until: self.until,
            source,
            runs: self.states(count),
            tokens: Tokens {
                input: all.get(&Metric::Input),
                output: all.get(&Metric::Output),
                cache_read: all.get(&Metric::CacheRead),
            },
            cost,
            calls: Calls { count, p50_ms, p95_ms },
            agents: self.rows(Of::Agent, run_row, |row| row.runs),
            models: self.rows(Of::Model, model_row, |row| row.calls),
            tools: self.rows(Of::Tool, tool_row, |row| row.calls),
            users: self.rows(Of::User, run_row, |row| row.runs),
            hooks: self.rows(Of::Hook, HookRow::of, |row| row.total_us),
            by_time: self.steps.shown(has_prices),
            days: self.days.as_ref().map_or_else(Vec::new, |days| days.shown(has_prices)),
        }
    }

    fn states(&self, count: u64) -> BTreeMap<Arc<str>, u64> {
        let mut states: BTreeMap<Arc<str>, u64> =
            RunState::ALL.into_iter().map(|state| (state.name().into(), 0)).collect();
        for (state, counts) in self.totals.each(Of::State) {
            states.insert(state.clone(), counts.get(&Metric::Runs));
        }
        states.insert("total".into(), count);
        states
    }

    /// Returns the rows of one kind, the largest first, those of the same size by name.
    fn rows<R>(
        &self,
        of: Of,
        row: impl Fn(&Arc<str>, &Counts) -> R,
        size: impl Fn(&R) -> u64,
    ) -> Vec<R> {
        let mut rows: Vec<_> =
            self.totals.each(of).map(|(name, counts)| row(name, counts)).collect();
        rows.sort_by_key(|row| Reverse(size(row)));
        rows
    }
}
