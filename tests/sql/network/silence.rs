//! A server that does not answer: no operation waits longer than its limit, and each says for what.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hooks_agent_core::call::RunId;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Acquired, Claim, Filter, Steps, Store, StoreError, StoreFuture};
use hooks_agent_sql::store::PostgresStore;
use hooks_fixtures::Wire;
use serde_json::Map;

use crate::backend::Shared;
use crate::network::wire::{LIMIT, Wired};
use crate::suite::decisions::{approve, ask};
use crate::suite::errors::told;
use crate::suite::steps::{granted, key, step};

/// The longest time of an operation: it waits for the answer, and connects again.
const LONGEST: Duration = Duration::from_secs(4);

/// Runs an operation on a server that does not answer.
async fn assert_ends<T: std::fmt::Debug>(wired: &Wired, what: &str, operation: StoreFuture<'_, T>) {
    let begin = Instant::now();
    let done = tokio::time::timeout(LONGEST, operation).await;
    let error = done.unwrap_or_else(|_| panic!("{what} waits for ever")).unwrap_err();
    assert!(error.is_transient(), "{what}: {error:?}");
    let told = told(&error);
    let place = format!("PostgreSQL at {}", wired.proxy.address());
    assert!(told.contains(what) && told.contains(&place), "{told}");
    assert!(told.contains("does not answer within 600ms"), "{told}");
    assert!(begin.elapsed() >= LIMIT, "{what}: {:?}", begin.elapsed());
}

#[tokio::test]
async fn no_operation_waits_for_ever_for_an_answer_and_each_says_for_what() {
    let Some(wired) = Wired::new().await else { return };
    let plain: Shared = Arc::new(wired.store().await);
    let lease = granted(&plain, &key("ada")).await;
    let id = ask(&plain, "bob", 1).await.remove(0);
    let (ada, run) = (key("ada"), RunId::random());
    let store: &PostgresStore = &wired.store().await;
    let next = step(0);
    let leases = [lease.clone()];
    wired.proxy.set(Wire::Swallow);
    assert_ends(
        &wired,
        "requesting the lease of a thread",
        store.acquire(&ada, run, &Claim::new()),
    )
    .await;
    assert_ends(&wired, "withdrawing a request", store.withdraw(&ada, run)).await;
    assert_ends(&wired, "loading a thread", store.load(&lease)).await;
    assert_ends(&wired, "writing a step", store.commit(&lease, &next)).await;
    assert_ends(&wired, "renewing leases", store.renew(&leases)).await;
    assert_ends(&wired, "releasing a lease", store.release(&lease)).await;
    assert_ends(&wired, "listing questions", store.waiting(Filter::all())).await;
    assert_ends(&wired, "storing decisions", store.decide(vec![approve(&id, "eve")])).await;
    assert_ends(&wired, "refusing questions", store.expire()).await;
    assert_ends(&wired, "listing threads", store.threads(Filter::all())).await;
    assert_ends(&wired, "reading a history", store.history(&ada)).await;
    assert_ends(&wired, "reading values", store.values(&ada)).await;
    let import = store.import(&ada, Vec::new(), Map::new(), None);
    assert_ends(&wired, "importing a thread", import).await;
    assert_ends(&wired, "forgetting runs", store.forget(Filter::all())).await;
    assert_ends(&wired, "pruning runs", store.prune(Filter::all())).await;
    assert_ends(&wired, "counting rows", store.report()).await;

    wired.proxy.set(Wire::Pass);
    plain.commit(&lease, &step(0)).await.unwrap();
    assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_that_never_comes_on_an_open_connection_is_an_error() {
    let Some(wired) = Wired::new().await else { return };
    let store = wired.store().await;
    store.threads(Filter::all()).await.unwrap();
    wired.proxy.set(Wire::Swallow);
    assert_ends(&wired, "listing threads", store.threads(Filter::all())).await;
}

#[tokio::test]
async fn opening_ends_too() {
    let Some(wired) = Wired::new().await else { return };
    wired.proxy.set(Wire::Swallow);
    let url = wired.url();
    let begin = Instant::now();
    let error = wired.options().connect(&url).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    let migrated = wired.options().migrate(&url).await.unwrap_err();
    assert!(matches!(migrated, StoreError::Unavailable(_)), "{migrated:?}");
    let dry = wired.options().dry_run(&url).await.unwrap_err();
    assert!(told(&dry).contains(&wired.proxy.address().to_string()), "{}", told(&dry));
    assert!(begin.elapsed() < 3 * LONGEST);
}

#[tokio::test]
async fn a_call_in_a_black_hole_ends_and_the_next_one_works() {
    let Some(wired) = Wired::new().await else { return };
    let store = wired.store().await;
    let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    let agent = ReActAgent::builder("clerk").model(model).store(store).build().unwrap();
    assert_eq!(agent.call("one").await.unwrap().text(), "1");
    wired.proxy.set(Wire::Swallow);
    let call = tokio::time::timeout(LONGEST, agent.call("two")).await;
    let error = call.expect("the call ends").unwrap_err();
    assert!(told(&error).contains("requesting the lease of a thread"), "{}", told(&error));
    wired.proxy.set(Wire::Pass);
    assert_eq!(agent.call("three").await.unwrap().text(), "3");
}

#[tokio::test]
async fn idle_connections_that_are_lost_are_found_by_one_test() {
    let Some(wired) = Wired::new().await else { return };
    let idle = 8;
    // Each connection is tested before it is used again.
    let options = wired.options().connections(idle).keep_alive(Duration::from_millis(1));
    let store = options.connect(&wired.url()).await.unwrap();
    // As many connections as there are operations at once.
    wired.proxy.set(Wire::Delay(Duration::from_millis(30)));
    let lists = (0..idle).map(|_| store.threads(Filter::all()));
    futures::future::try_join_all(lists).await.unwrap();
    wired.proxy.set(Wire::Swallow);
    assert_ends(&wired, "listing threads", store.threads(Filter::all())).await;
}

#[tokio::test]
async fn a_slow_answer_within_the_limit_is_taken() {
    let Some(wired) = Wired::new().await else { return };
    let store: Shared = Arc::new(wired.patient_store().await);
    let lease = granted(&store, &key("ada")).await;
    wired.proxy.set(Wire::Delay(Duration::from_millis(40)));
    store.commit(&lease, &step(0)).await.unwrap();
    assert_eq!(store.load(&lease).await.unwrap().version, 1);
}

#[tokio::test]
async fn a_statement_that_waits_for_a_lock_is_ended_by_the_server() {
    let Some(wired) = Wired::new().await else { return };
    let store = wired.store().await;
    let shared: Shared = Arc::new(store.clone());
    let lease = granted(&shared, &key("ada")).await;
    let locks = "BEGIN; SELECT id FROM thread FOR UPDATE; SELECT pg_sleep(3); COMMIT";
    let (other, ()) = futures::join!(wired.backend.sql(locks), async {
        let running = "SELECT pid FROM pg_stat_activity WHERE state = 'active'
            AND query LIKE '%FOR UPDATE; SELECT pg_sleep(3)%' AND pid <> pg_backend_pid()";
        while wired.backend.sql(running).await.is_empty() {}
        let error = store.commit(&lease, &step(0)).await.unwrap_err();
        let told = told(&error);
        assert!(error.is_transient() && told.contains("57014"), "{told}");
        assert!(told.contains("raise `statement_timeout`"), "{told}");
    });
    assert_eq!(other.len(), 2);
}

#[tokio::test]
async fn the_connection_that_listens_is_made_again_after_a_silence() {
    let Some(wired) = Wired::new().await else { return };
    let (store, other) = (wired.store().await, wired.backend.store().await);
    let ada = key("ada");
    let lease = granted(&other, &ada).await;
    let mut version = 0;
    let mut wakes = async |store: &PostgresStore| {
        let mut lease = lease.clone();
        let waiter = RunId::random();
        if version > 0 {
            lease = granted(&other, &ada).await;
        }
        assert_eq!(store.acquire(&ada, waiter, &Claim::new()).await.unwrap(), Acquired::Busy);
        let begin = Instant::now();
        let ((), ()) = futures::join!(store.freed(&ada), async {
            let mut last = step(version);
            last.releases = true;
            other.commit(&lease, &last).await.unwrap();
        });
        version += 1;
        store.withdraw(&ada, waiter).await.unwrap();
        begin.elapsed() < Duration::from_millis(900)
    };
    let mut tries = 0;
    while !wakes(&store).await {
        tries += 1;
        assert!(tries < 20, "it never listened");
    }
    wired.proxy.set(Wire::Swallow);
    // The wire loses something of the connection that listens when it is tested.
    assert!(store.threads(Filter::all()).await.is_err());
    wired.proxy.set(Wire::Pass);
    let mut tries = 0;
    while !wakes(&store).await {
        tries += 1;
        assert!(tries < 20, "it listens no longer");
    }
}
