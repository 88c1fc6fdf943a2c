//! Histories whose store fails, or does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::call::RunId;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Backend, Filter, HistoryRow, KeptRun, RunFilter, RunHistory, RunPage, RunSums, Store,
    StoreError, StoreFuture, SummedTotal, ThreadInfo, ThreadKey, Verdict, Waiting,
};
use hooks_agent_sql::store::SqliteStore;
use hooks_agent_studio::Studio;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::support::{Browser, open, says};

/// A store of which adding runs fails so often, and waits for a permit where there is a gate.
#[derive(Clone, Debug)]
struct Weak {
    store: Arc<SqliteStore>,
    fails: Arc<AtomicUsize>,
    gate: Option<Arc<Semaphore>>,
}

impl Weak {
    fn history(&self) -> &dyn RunHistory {
        self.store.run_history().unwrap()
    }
}

impl Store for Weak {
    fn backend(&self) -> Backend {
        self.store.backend()
    }

    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
        self.store.waiting(filter)
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        self.store.decide(verdicts)
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        self.store.expire()
    }

    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
        self.store.threads(filter)
    }

    fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
        self.store.history(thread)
    }

    fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
        self.store.values(thread)
    }

    fn import<'a>(
        &'a self,
        thread: &'a ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> StoreFuture<'a, ()> {
        self.store.import(thread, rows, values, user)
    }

    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.store.forget(filter)
    }

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.store.prune(filter)
    }

    fn run_history(&self) -> Option<&dyn RunHistory> {
        Some(self)
    }
}

impl RunHistory for Weak {
    fn add(&self, runs: Vec<KeptRun>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if let Some(gate) = &self.gate {
                gate.acquire().await.unwrap().forget();
            }
            let one_less = |left: usize| left.checked_sub(1);
            if self.fails.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                return Err(StoreError::Failed("the disk is full".into()));
            }
            self.history().add(runs).await
        })
    }

    fn change(&self, runs: Vec<KeptRun>) -> StoreFuture<'_, ()> {
        self.history().change(runs)
    }

    fn list(&self, filter: RunFilter) -> StoreFuture<'_, RunPage> {
        self.history().list(filter)
    }

    fn get(&self, run: RunId) -> StoreFuture<'_, Option<KeptRun>> {
        self.history().get(run)
    }

    fn below(&self, run: RunId) -> StoreFuture<'_, Vec<KeptRun>> {
        self.history().below(run)
    }

    fn totals(&self, sums: RunSums) -> StoreFuture<'_, Vec<SummedTotal>> {
        self.history().totals(sums)
    }

    fn prune_runs(&self, before: u64) -> StoreFuture<'_, u64> {
        self.history().prune_runs(before)
    }
}

/// A studio with such a history, and an agent that it sees.
struct Kept {
    _folder: TempDir,
    studio: Studio,
    agent: ReActAgent,
    fails: Arc<AtomicUsize>,
}

impl Kept {
    async fn new(fails: usize, gate: Option<Arc<Semaphore>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("runs.db")).await.unwrap();
        let (store, fails) = (Arc::new(store), Arc::new(AtomicUsize::new(fails)));
        let studio = Studio::new().history(Weak { store, fails: fails.clone(), gate });
        let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
        let agent = agent.build().unwrap();
        Self { _folder: folder, studio, agent, fails }
    }
}

/// How many runs of the history are listed, and how many are lost.
async fn counts(browser: &Browser) -> (usize, Value) {
    let listed = browser.json("/api/history").await;
    (listed["runs"].as_array().unwrap().len(), listed["lost"].clone())
}

#[tokio::test]
async fn a_store_that_fails_once_is_tried_again() {
    let kept = Kept::new(1, None).await;
    let browser = open(&kept.studio).await;
    kept.agent.call("Go").await.unwrap();
    while counts(&browser).await.0 == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(counts(&browser).await, (1, json!(0)));
}

#[tokio::test]
async fn runs_that_a_store_never_takes_are_counted_and_the_next_ones_are_kept() {
    let kept = Kept::new(usize::MAX, None).await;
    let browser = open(&kept.studio).await;
    for text in ["one", "two", "three"] {
        kept.agent.call(text).await.unwrap();
    }
    browser.server.shutdown().await;
    let browser = open(&kept.studio).await;
    assert_eq!(counts(&browser).await, (0, json!(3)));
    kept.fails.store(0, Ordering::Relaxed);
    kept.agent.call("four").await.unwrap();
    browser.server.shutdown().await;
    let browser = open(&kept.studio).await;
    assert_eq!(counts(&browser).await, (1, json!(3)));
}

#[tokio::test]
async fn a_store_that_does_not_answer_holds_up_no_call_and_what_it_does_not_take_is_counted() {
    const RUNS: u64 = 1_500;
    let gate = Arc::new(Semaphore::new(0));
    let kept = Kept::new(0, Some(gate.clone())).await;
    let browser = open(&kept.studio).await;
    for _ in 0..RUNS {
        kept.agent.call("Go").await.unwrap();
        kept.agent.memory().clear();
    }
    let (listed, lost) = counts(&browser).await;
    let lost = lost.as_u64().unwrap();
    // Up to 1,024 wait, and 64 are being written.
    assert_eq!(listed, 0);
    assert!((RUNS - 1_024 - 64..RUNS).contains(&lost), "{lost}");
    // The rest is written once the store answers, but for runs that the ring does not have any more.
    gate.add_permits(10_000);
    while counts(&browser).await.0 == 0 {
        tokio::task::yield_now().await;
    }
    browser.server.shutdown().await;
    let browser = open(&kept.studio).await;
    let (mut count, mut query) = (0, String::new());
    loop {
        let page = browser.json(&format!("/api/history?{query}")).await;
        count += page["runs"].as_array().unwrap().len() as u64;
        let Some(next) = page["next"].as_str() else { break };
        query = format!("before={next}");
    }
    let lost = counts(&browser).await.1.as_u64().unwrap();
    assert_eq!(count + lost, RUNS);
    assert!(count > 500, "{count}");
}
