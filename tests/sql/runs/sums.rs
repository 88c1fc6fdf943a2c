//! Sums of what runs count for.

use std::collections::BTreeMap;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{KeptRun, RunError, RunSums, RunTotal, StoreError, SummedTotal};
use proptest::prelude::{Just, ProptestConfig, Strategy, prop};
use proptest::test_runner::TestRunner;

use crate::backend::{Backend, Shared, on_each, postgres, sqlite};
use crate::runs::{NOON, run, runs};

on_each! {
    a_run_that_is_replaced_counts_as_the_last_one,
    sums_are_of_whole_steps,
    sums_of_days_are_those_of_their_hours,
    a_step_that_is_no_hour_is_refused,
    sums_larger_than_a_number_are_the_largest,
}

const HOUR: u64 = RunSums::HOUR;
const DAY: u64 = 24 * HOUR;

/// The first day that tests count on.
const FIRST: u64 = NOON - NOON % DAY;

fn total(metric: &str, value: u64) -> RunTotal {
    RunTotal::new("model", "small", metric, value)
}

fn counting(name: &str, started: u64, totals: &[RunTotal]) -> KeptRun {
    let mut run = run(name, started);
    run.totals = totals.to_vec();
    run
}

/// Returns the begins, metrics and values of sums.
async fn sums(store: &Shared, sums: RunSums) -> Vec<(u64, String, u64)> {
    let sums = runs(store).totals(sums).await.unwrap();
    sums.iter().map(|it| (it.at, it.metric.to_string(), it.value)).collect()
}

fn expected(rows: &[(u64, &str, u64)]) -> Vec<(u64, String, u64)> {
    rows.iter().map(|(at, metric, value)| (*at, (*metric).to_owned(), *value)).collect()
}

async fn a_run_that_is_replaced_counts_as_the_last_one(backend: &Backend) {
    let store = backend.store().await;
    let all = || RunSums::new(FIRST, FIRST + 2 * DAY);
    let waiting = counting("one", NOON, &[total("input", 10), total("waiting", 1)]);
    for _ in 0..2 {
        runs(&store).add(vec![waiting.clone()]).await.unwrap();
    }
    assert_eq!(sums(&store, all()).await, expected(&[(NOON, "input", 10), (NOON, "waiting", 1)]));
    let ended =
        counting("one", NOON + 5, &[total("input", 12), total("input", 3), total("failed", 0)]);
    runs(&store).add(vec![waiting, ended.clone()]).await.unwrap();
    assert_eq!(sums(&store, all()).await, expected(&[(NOON, "input", 15)]));
    // It began in another hour.
    let mut moved = ended;
    moved.started = NOON + HOUR;
    runs(&store).add(vec![moved, counting("two", NOON, &[total("input", 1)])]).await.unwrap();
    let rows = [(NOON, "input", 1), (NOON + HOUR, "input", 15)];
    assert_eq!(sums(&store, all()).await, expected(&rows));
}

async fn sums_are_of_whole_steps(backend: &Backend) {
    let store = backend.store().await;
    let hours = [0, 1, 2, 25, 26];
    let added = hours.map(|hour| {
        counting(&hour.to_string(), FIRST + hour * HOUR + 7, &[total("input", 1 << hour)])
    });
    runs(&store).add(added.to_vec()).await.unwrap();
    let none = RunSums::new(FIRST + 3 * HOUR, FIRST + 25 * HOUR);
    assert_eq!(sums(&store, none).await, []);
    // The hour of the begin and that of the end count as a whole.
    let some = RunSums::new(FIRST + HOUR + 9, FIRST + 25 * HOUR + 1);
    let rows = [(1, 1 << 1), (2, 1 << 2), (25, 1 << 25)];
    let rows = rows.map(|(hour, value)| (FIRST + hour * HOUR, "input", value));
    assert_eq!(sums(&store, some.clone()).await, expected(&rows));
    let by_days =
        [(FIRST + HOUR, "input", (1 << 1) + (1 << 2)), (FIRST + 25 * HOUR, "input", 1 << 25)];
    assert_eq!(sums(&store, some.clone().step(DAY)).await, expected(&by_days));
    assert_eq!(sums(&store, some.clone().kind("tool")).await, []);
    assert_eq!(sums(&store, some.clone().kind("a\0")).await, []);
    assert_eq!(sums(&store, some.kind("model").step(DAY)).await, expected(&by_days));
    assert_eq!(sums(&store, RunSums::new(NOON, 0)).await, []);
    assert_eq!(sums(&store, RunSums::new(0, u64::MAX).step(1000 * DAY)).await.len(), 1);
}

async fn sums_of_days_are_those_of_their_hours(backend: &Backend) {
    let store = backend.store().await;
    let added = (0..200).map(|number| {
        let started = FIRST + number * 5 * HOUR / 4;
        counting(&number.to_string(), started, &[total("input", number), total("runs", 1)])
    });
    runs(&store).add(added.collect()).await.unwrap();
    for until in [FIRST + DAY, FIRST + 3 * DAY + 5 * HOUR, FIRST + 20 * DAY, u64::MAX] {
        for step in [DAY, 2 * DAY] {
            let by_days = sums(&store, RunSums::new(FIRST, until).step(step)).await;
            let mut of_hours: BTreeMap<(u64, String), u64> = BTreeMap::new();
            for (at, metric, value) in sums(&store, RunSums::new(FIRST, until)).await {
                *of_hours.entry((at - (at - FIRST) % step, metric)).or_default() += value;
            }
            let of_hours = of_hours.into_iter().map(|((at, metric), value)| (at, metric, value));
            assert_eq!(by_days, of_hours.collect::<Vec<_>>(), "{until} {step}");
        }
    }
}

async fn a_step_that_is_no_hour_is_refused(backend: &Backend) {
    let store = backend.store().await;
    for step in [0, 1, HOUR + 1, u64::MAX] {
        let error = runs(&store).totals(RunSums::new(0, 1).step(step)).await.unwrap_err();
        assert!(matches!(error, StoreError::Run(RunError::Step { .. })), "{error:?}");
    }
}

async fn sums_larger_than_a_number_are_the_largest(backend: &Backend) {
    let store = backend.store().await;
    let largest = |number: u64| counting(&number.to_string(), NOON, &[total("input", u64::MAX)]);
    runs(&store).add((0..1500).map(largest).collect()).await.unwrap();
    let largest = [(NOON, "input", (1 << 53) - 1)];
    assert_eq!(sums(&store, RunSums::new(NOON, NOON + 1)).await, expected(&largest));
    let hours = |number: u64| {
        counting(&number.to_string(), NOON + number % 2 * HOUR, &[total("input", u64::MAX)])
    };
    runs(&store).add((0..2000).map(hours).collect()).await.unwrap();
    let both = RunSums::new(NOON, NOON + 2 * HOUR).step(2 * HOUR);
    assert_eq!(sums(&store, both).await, expected(&largest));
}

/// An addition of some runs, each of which may be there already.
fn additions() -> impl Strategy<Value = Vec<Vec<KeptRun>>> {
    let metric = prop::sample::select(vec!["input", "output", "h1"]);
    let totals = prop::collection::vec((metric, 0..4_u64), 0..4);
    let run = (0..4_u8, 0..50_u64, totals).prop_map(|(name, hour, totals)| {
        let totals: Vec<_> =
            totals.into_iter().map(|(metric, value)| total(metric, value)).collect();
        counting(&name.to_string(), FIRST + hour * HOUR, &totals)
    });
    prop::collection::vec(prop::collection::vec(run, 0..4), 1..8)
}

/// Returns the sums over the runs that a store is to have.
fn summed(additions: &[Vec<KeptRun>], step: u64) -> Vec<SummedTotal> {
    let runs: BTreeMap<RunId, &KeptRun> =
        additions.iter().flatten().map(|run| (run.run, run)).collect();
    let mut sums: BTreeMap<(u64, String), u64> = BTreeMap::new();
    for run in runs.values() {
        for total in &run.totals {
            let at = run.started - (run.started - FIRST) % step;
            *sums.entry((at, total.metric.to_string())).or_default() += total.value;
        }
    }
    sums.retain(|_, value| *value > 0);
    let sum =
        |((at, metric), value): ((u64, String), u64)| SummedTotal::new(at, total(&metric, value));
    sums.into_iter().map(sum).collect()
}

#[test]
fn sums_are_those_over_the_runs_whatever_was_added_and_replaced() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let backends: Vec<Backend> = runtime
        .block_on(async { [Some(sqlite()), postgres().await].into_iter().flatten().collect() });
    let config = ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() };
    let cases = additions().prop_flat_map(|made| (Just(made.clone()), Just(made).prop_shuffle()));
    let tested = TestRunner::new(config).run(&cases, |(one, other)| {
        for backend in &backends {
            runtime.block_on(async {
                // Whatever was there is replaced, in another order.
                let store = backend.store().await;
                let all = || RunSums::new(FIRST, FIRST + 4 * DAY);
                for additions in [&one, &other] {
                    runs(&store).prune_runs(u64::MAX).await.unwrap();
                    for added in additions {
                        runs(&store).add(added.clone()).await.unwrap();
                    }
                    for step in [HOUR, 5 * HOUR, DAY] {
                        let found = runs(&store).totals(all().step(step)).await.unwrap();
                        assert_eq!(found, summed(additions, step));
                    }
                }
            });
        }
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));
}
