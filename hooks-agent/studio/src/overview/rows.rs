//! Rows of agents, users, models, tools and hooks.

use std::sync::Arc;

use serde::Serialize;

use crate::prices::Money;
use crate::totals::{Counts, Metric};

/// A model.
#[derive(Debug, Serialize)]
pub(super) struct ModelRow {
    name: Arc<str>,
    pub(super) calls: u64,
    failed: u64,
    retries: u64,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
    first_p50_ms: Option<u64>,
    first_p95_ms: Option<u64>,
    input: u64,
    output: u64,
    cache_read: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
}

/// A tool.
#[derive(Debug, Serialize)]
pub(super) struct ToolRow {
    name: Arc<str>,
    pub(super) calls: u64,
    failed: u64,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
    /// Of the sub-agents that ran for it.
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
}

/// An agent or a user.
#[derive(Debug, Serialize)]
pub(super) struct RunRow {
    name: Arc<str>,
    pub(super) runs: u64,
    failed: u64,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
}

/// A hook.
#[derive(Debug, Serialize)]
pub(super) struct HookRow {
    name: Arc<str>,
    events: Vec<Arc<str>>,
    runs: u64,
    p50_us: Option<u64>,
    p95_us: Option<u64>,
    pub(super) total_us: u64,
    changes: u64,
    refusals: u64,
    failed: u64,
    shadow_runs: u64,
    would_have: u64,
}

/// Returns the money, where there are prices.
pub(super) fn cost(counts: &Counts, has_prices: bool) -> Option<Money> {
    has_prices.then(|| Money::of_millionths(counts.get(&Metric::Cost)))
}

impl ModelRow {
    pub(super) fn of(name: &Arc<str>, counts: &Counts, has_prices: bool) -> Self {
        let (p50_ms, p95_ms) = counts.percentiles(Metric::Ms);
        let (first_p50_ms, first_p95_ms) = counts.percentiles(Metric::FirstMs);
        Self {
            name: name.clone(),
            calls: counts.get(&Metric::Calls),
            failed: counts.get(&Metric::Failed),
            retries: counts.get(&Metric::Retries),
            p50_ms,
            p95_ms,
            first_p50_ms,
            first_p95_ms,
            input: counts.get(&Metric::Input),
            output: counts.get(&Metric::Output),
            cache_read: counts.get(&Metric::CacheRead),
            cost: cost(counts, has_prices),
        }
    }
}

impl ToolRow {
    pub(super) fn of(name: &Arc<str>, counts: &Counts, has_prices: bool) -> Self {
        let (p50_ms, p95_ms) = counts.percentiles(Metric::Ms);
        Self {
            name: name.clone(),
            calls: counts.get(&Metric::Calls),
            failed: counts.get(&Metric::Failed),
            p50_ms,
            p95_ms,
            tokens: counts.get(&Metric::Tokens),
            cost: cost(counts, has_prices),
        }
    }
}

impl RunRow {
    pub(super) fn of(name: &Arc<str>, counts: &Counts, has_prices: bool) -> Self {
        let (p50_ms, p95_ms) = counts.percentiles(Metric::Ms);
        Self {
            name: name.clone(),
            runs: counts.get(&Metric::Runs),
            failed: counts.get(&Metric::Failed),
            p50_ms,
            p95_ms,
            tokens: counts.get(&Metric::Tokens),
            cost: cost(counts, has_prices),
        }
    }
}

impl HookRow {
    pub(super) fn of(name: &Arc<str>, counts: &Counts) -> Self {
        let (p50_us, p95_us) = counts.percentiles(Metric::Us);
        Self {
            name: name.clone(),
            events: counts.events(),
            runs: counts.get(&Metric::Runs),
            p50_us,
            p95_us,
            total_us: counts.get(&Metric::Micros),
            changes: counts.get(&Metric::Changes),
            refusals: counts.get(&Metric::Refusals),
            failed: counts.get(&Metric::Failed),
            shadow_runs: counts.get(&Metric::ShadowRuns),
            would_have: counts.get(&Metric::WouldHave),
        }
    }
}
