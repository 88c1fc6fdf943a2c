//! Metrics of a store: steps, bytes, waits and leases.

use std::time::Duration;

use hooks_agent_builtin::observe::MeteredStore;
use hooks_agent_core::call::RunId;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{self, Acquired, Claim, Store};
use hooks_agent_core::thread::MemoryStore;
use metrics::Unit;

use crate::backend::{Backend, on_each};
use crate::suite::steps::{key, step};
use hooks_fixtures::MetricsPage;

on_each! {
    steps_and_their_bytes_are_counted,
    waits_takeovers_and_lost_leases_are_counted_once,
    a_request_that_is_withdrawn_is_a_wait,
}

fn sum(page: &MetricsPage, metric: &str, outcome: &str) -> f64 {
    let outcome = if outcome.is_empty() { String::new() } else { format!(",outcome={outcome}") };
    page.sum(&format!("hooks_agent.store.{metric}{{gen_ai.agent.name=clerk{outcome}}}"))
}

fn assert_sum(page: &MetricsPage, metric: &str, outcome: &str, expected: f64) {
    let found = sum(page, metric, outcome);
    assert!((found - expected).abs() < 1e-9, "{metric} {outcome}: {found}, {:?}", page.names());
}

async fn steps_and_their_bytes_are_counted(backend: &Backend) {
    let page = MetricsPage::default();
    let store = MeteredStore::new(backend.store().await).recorder(page.clone());
    let model = ScriptedModel::new("fixed", |_| "x".repeat(1000));
    let agent = ReActAgent::builder("clerk").model(model).store(store.clone()).build().unwrap();
    agent.call("hello").await.unwrap();
    let version = store.threads(store::Filter::all()).await.unwrap()[0].version;
    let steps = f64::from(u32::try_from(version).unwrap());
    assert_sum(&page, "steps", "", steps);
    assert_sum(&page, "commit.duration", "ok", steps);
    let bytes = sum(&page, "bytes", "");
    assert!((1000.0..2000.0).contains(&bytes), "{bytes}");
    let units = page.units.lock().unwrap();
    assert_eq!(units["hooks_agent.store.bytes"], Some(Unit::Bytes));
    assert_eq!(units["hooks_agent.store.commit.duration"], Some(Unit::Seconds));
}

fn steps_of(store: &impl Store) -> std::sync::Arc<dyn store::Steps> {
    match store.backend() {
        store::Backend::Steps(steps) => steps,
        other => panic!("{other:?}"),
    }
}

async fn waits_takeovers_and_lost_leases_are_counted_once(backend: &Backend) {
    let page = MetricsPage::default();
    let inner = backend.leased("default", Duration::from_secs(30)).await;
    let metered = steps_of(&MeteredStore::new(inner).recorder(page.clone()));
    let (first, second) = (RunId::random(), RunId::random());
    let ada = key("ada");
    let Acquired::Granted { lease, .. } =
        metered.acquire(&ada, first, &Claim::new()).await.unwrap()
    else {
        panic!("nobody owns it")
    };
    for _ in 0..2 {
        assert_eq!(metered.acquire(&ada, second, &Claim::new()).await.unwrap(), Acquired::Busy);
    }
    backend.sql("UPDATE thread SET lease_until = 1").await;
    let granted = metered.acquire(&ada, second, &Claim::new()).await.unwrap();
    assert!(matches!(granted, Acquired::Granted { is_takeover: true, .. }), "{granted:?}");
    let leases = std::slice::from_ref(&lease);
    assert_eq!(metered.renew(leases).await.unwrap(), leases);
    assert!(metered.commit(&lease, &step(0)).await.is_err());

    assert_sum(&page, "lease_waits", "granted", 1.0);
    assert_sum(&page, "lease_wait.duration", "granted", 1.0);
    assert_sum(&page, "takeovers", "", 1.0);
    assert_sum(&page, "leases_lost", "", 1.0);
    assert_sum(&page, "commit.duration", "error", 1.0);
    assert!(sum(&page, "steps", "").is_nan());
}

async fn a_request_that_is_withdrawn_is_a_wait(backend: &Backend) {
    let page = MetricsPage::default();
    let metered = steps_of(&MeteredStore::new(backend.store().await).recorder(page.clone()));
    let ada = key("ada");
    metered.acquire(&ada, RunId::random(), &Claim::new()).await.unwrap();
    let second = RunId::random();
    assert_eq!(metered.acquire(&ada, second, &Claim::new()).await.unwrap(), Acquired::Busy);
    for _ in 0..2 {
        metered.withdraw(&ada, second).await.unwrap();
    }
    assert_sum(&page, "lease_waits", "withdrawn", 1.0);
    assert!(sum(&page, "takeovers", "").is_nan() && sum(&page, "leases_lost", "").is_nan());
}

#[tokio::test]
async fn threads_in_memory_are_as_without_metrics() {
    let page = MetricsPage::default();
    let store = MeteredStore::new(MemoryStore::new()).recorder(page.clone()).label_values(1);
    let build = || {
        let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
        ReActAgent::builder("clerk").model(model).store(store.clone()).build().unwrap()
    };
    assert_eq!(build().call("hello").await.unwrap().text(), "1");
    assert_eq!(build().call("hello").await.unwrap().text(), "3");
    assert!(page.names().is_empty());
}
