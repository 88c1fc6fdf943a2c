//! Connections that are cut: what may be repeated is, and nothing happens twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hooks_agent_core::call::RunId;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Acquired, Claim, DecisionError, Filter, Steps, Store, StoreError};
use hooks_agent_sql::store::PostgresStore;
use hooks_fixtures::Wire;

use crate::backend::Shared;
use crate::network::wire::Wired;
use crate::suite::decisions::{approve, ask};
use crate::suite::steps::{granted, key, step};

/// A cut is far shorter than a lease.
const SHORT: Duration = Duration::from_secs(5);

/// Cuts the wire for 0.1 seconds.
async fn cut(wired: &Wired) {
    wired.proxy.set(Wire::Cut);
    let proxy = wired.proxy.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        proxy.set(Wire::Pass);
    });
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn operations_that_may_be_repeated_outlast_a_short_cut() {
    let Some(wired) = Wired::new().await else { return };
    let store: PostgresStore = wired.patient_store().await;
    let shared: Shared = Arc::new(store.clone());
    let lease = granted(&shared, &key("ada")).await;
    let id = ask(&shared, "bob", 1).await.remove(0);
    let (eve, run) = (key("eve"), RunId::random());
    cut(&wired).await;
    assert!(matches!(
        store.acquire(&eve, run, &Claim::new()).await.unwrap(),
        Acquired::Granted { .. }
    ));
    cut(&wired).await;
    store.load(&lease).await.unwrap();
    cut(&wired).await;
    assert_eq!(store.renew(std::slice::from_ref(&lease)).await.unwrap(), []);
    cut(&wired).await;
    assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 1);
    cut(&wired).await;
    store.decide(vec![approve(&id, "eve")]).await.unwrap();
    cut(&wired).await;
    store.expire().await.unwrap();
    cut(&wired).await;
    store.threads(Filter::all()).await.unwrap();
    cut(&wired).await;
    store.history(&eve).await.unwrap();
    cut(&wired).await;
    store.values(&eve).await.unwrap();
    cut(&wired).await;
    store.report().await.unwrap();
    cut(&wired).await;
    store.withdraw(&eve, run).await.unwrap();
    cut(&wired).await;
    store.release(&lease).await.unwrap();
    for thread in ["ada", "eve"] {
        granted(&shared, &key(thread)).await;
    }
}

#[tokio::test]
async fn a_decision_whose_answer_was_lost_is_stored_once_and_accepted() {
    let Some(wired) = Wired::new().await else { return };
    let store: Shared = Arc::new(wired.patient_store().await);
    let ids = ask(&store, "ada", 3).await;
    // The connection knows the statements.
    store.decide(vec![approve(&ids[0], "eve")]).await.unwrap();
    // The transaction has several answers: each of them is lost once.
    for lost in 0..6 {
        let id = &ask(&store, &format!("thread {lost}"), 1).await[0];
        let (decided, ()) = futures::join!(store.decide(vec![approve(id, "eve")]), async {
            for _ in 0..lost * 3 {
                tokio::task::yield_now().await;
            }
            wired.proxy.set(Wire::LoseAnswer);
        });
        decided.unwrap();
        wired.proxy.set(Wire::Pass);
        let again = store.decide(vec![approve(id, "eve")]).await.unwrap_err();
        let StoreError::Decision(DecisionError::AlreadyDecided { by, .. }) = again else {
            panic!("{again:?}")
        };
        assert_eq!(by.as_deref(), Some("eve"));
    }
    // One that another person decided meanwhile is refused.
    let other = wired.backend.store().await;
    other.decide(vec![approve(&ids[1], "bob")]).await.unwrap();
    wired.proxy.set(Wire::LoseAnswer);
    let refused = store.decide(vec![approve(&ids[1], "bob")]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Decision(_)), "{refused:?}");
}

#[tokio::test]
async fn a_lease_whose_grant_was_lost_is_granted_again() {
    let Some(wired) = Wired::new().await else { return };
    let store: Shared = Arc::new(wired.patient_store().await);
    let lease = granted(&store, &key("ada")).await;
    store.release(&lease).await.unwrap();
    wired.proxy.set(Wire::LoseAnswer);
    let begin = Instant::now();
    let run = RunId::random();
    let Acquired::Granted { lease, is_takeover, .. } =
        store.acquire(&key("ada"), run, &Claim::new()).await.unwrap()
    else {
        panic!("nobody else owns it")
    };
    assert_eq!((lease.owner, is_takeover), (run, false));
    // The answer that was lost is that of the grant, or, on a slow machine, one before it.
    assert!(matches!(lease.fence, 2 | 3), "{}", lease.fence);
    assert!(begin.elapsed() < SHORT);
    store.commit(&lease, &step(0)).await.unwrap();
}

#[tokio::test]
async fn a_cut_at_any_moment_of_a_call_leaves_no_lease_behind() {
    let Some(wired) = Wired::new().await else { return };
    let store = wired.options().lease_time(Duration::from_mins(1));
    let store = store.connect(&wired.url()).await.unwrap();
    let model = ScriptedModel::new("yes", |_| "yes");
    let agent = ReActAgent::builder("clerk").model(model).store(store).build().unwrap();
    let other = wired.backend.store().await;
    for moment in 0..12_u32 {
        let thread = format!("thread {moment}");
        let options = CallOptions::new().thread(thread.as_str());
        let (_, ()) = futures::join!(agent.call_with(options, "hello"), async {
            tokio::time::sleep(Duration::from_millis(3) * moment).await;
            // Longer than what a call tries again for.
            wired.proxy.set(Wire::Cut);
            tokio::time::sleep(Duration::from_millis(800)).await;
            wired.proxy.set(Wire::Pass);
        });
        let begin = Instant::now();
        loop {
            let run = RunId::random();
            match other.acquire(&key(&thread), run, &Claim::new()).await.unwrap() {
                Acquired::Granted { is_takeover, .. } => {
                    assert!(!is_takeover, "the lease was released");
                    break;
                }
                Acquired::Busy => other.freed(&key(&thread)).await,
                Acquired::OtherUser => panic!("nobody owns it"),
            }
            other.withdraw(&key(&thread), run).await.unwrap();
            assert!(begin.elapsed() < SHORT, "{thread} is owned by nobody");
        }
    }
}
