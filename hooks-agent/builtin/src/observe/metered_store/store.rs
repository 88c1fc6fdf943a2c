//! A store that is counted.

use std::fmt;
use std::sync::Arc;

use metrics::Recorder;
use serde_json::{Map, Value};

use crate::observe::metered_store::shared::Shared;
use crate::observe::metered_store::steps::MeteredSteps;
use hooks_agent_core::call::User;
use hooks_agent_core::message::Msg;
use hooks_agent_core::store::{
    Approval, Backend, Claim, Filter, HistoryRow, QuotaUse, Reservation, RunHistory, Steered,
    Store, StoreFuture, StoreReport, ThreadInfo, ThreadKey, Verdict, Waiting, Window,
};

/// A store that counts what calls write to it, through the facade of the crate `metrics`.
///
/// | metric | type, unit | labels |
/// |---|---|---|
/// | `hooks_agent.store.steps` | counter | `gen_ai.agent.name` |
/// | `hooks_agent.store.bytes` | counter, bytes of messages as JSON | `gen_ai.agent.name` |
/// | `hooks_agent.store.commit.duration` | histogram, seconds | `gen_ai.agent.name`, `outcome`: `ok`, `error` |
/// | `hooks_agent.store.lease_waits` | counter | `gen_ai.agent.name`, `outcome`: `granted`, `withdrawn` |
/// | `hooks_agent.store.lease_wait.duration` | histogram, seconds | the same |
/// | `hooks_agent.store.takeovers` | counter | `gen_ai.agent.name` |
/// | `hooks_agent.store.leases_lost` | counter | `gen_ai.agent.name` |
///
/// A wait ends when the lease is granted, or when the call is cancelled or gives up: `withdrawn`. A lease
/// that is granted at once is no wait. A step whose call is dropped while it is written is not counted.
/// The number of values of a label is bounded: beyond [`label_values`](Self::label_values), the value is
/// `other`.
///
/// The threads of a [`MemoryStore`](hooks_agent_core::thread::MemoryStore) have no steps and no leases: nothing of
/// them is counted. Messages are serialized a second time for their length.
///
/// | setting | default |
/// |---|---|
/// | [`recorder`](Self::recorder) | the global recorder of `metrics`, or that of the thread |
/// | [`label_values`](Self::label_values) | 100 |
///
/// # Errors
/// Those of the store. A recorder that panics is reported once through `tracing`.
///
/// ```
/// use hooks_agent::builtin::observe::MeteredStore;
/// use hooks_agent::prelude::*;
/// use hooks_agent::thread::MemoryStore;
///
/// let store = MeteredStore::new(MemoryStore::new()); // or a `SqliteStore`, a `PostgresStore`
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).store(store).build()?;
/// # let _ = agent;
/// # Ok::<(), hooks_agent::error::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct MeteredStore<S> {
    store: S,
    shared: Arc<Shared>,
}

impl<S: Store> MeteredStore<S> {
    const LABEL_VALUES: usize = 100;

    /// Creates a store that counts what calls write to this one.
    pub fn new(store: S) -> Self {
        Self { store, shared: Arc::new(Shared::new(None, Self::LABEL_VALUES)) }
    }

    /// Sets the recorder, instead of the global one.
    pub fn recorder(self, recorder: impl Recorder + Send + Sync + 'static) -> Self {
        let shared = Shared::new(Some(Arc::new(recorder)), self.shared.most());
        Self { shared: Arc::new(shared), ..self }
    }

    /// Sets how many values a label may have; further ones are `other`.
    pub fn label_values(self, most: usize) -> Self {
        let shared = Shared::new(self.shared.meters.recorder(), most);
        Self { shared: Arc::new(shared), ..self }
    }
}

impl<S: Store> Store for MeteredStore<S> {
    fn backend(&self) -> Backend {
        match self.store.backend() {
            Backend::Steps(steps) => {
                Backend::Steps(Arc::new(MeteredSteps::new(steps, self.shared.clone())))
            }
            in_process => in_process,
        }
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

    fn report(&self) -> StoreFuture<'_, StoreReport> {
        self.store.report()
    }

    fn reserve(&self, reservations: Vec<Reservation>) -> StoreFuture<'_, Vec<Reservation>> {
        self.store.reserve(reservations)
    }

    fn settle(&self, used: Vec<Reservation>) -> StoreFuture<'_, ()> {
        self.store.settle(used)
    }

    fn quota_uses<'a>(
        &'a self,
        quota: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Vec<QuotaUse>> {
        self.store.quota_uses(quota, window)
    }

    fn steer<'a>(
        &'a self,
        thread: &'a ThreadKey,
        claim: &'a Claim,
        key: Arc<str>,
        message: Msg,
    ) -> StoreFuture<'a, Steered> {
        self.store.steer(thread, claim, key, message)
    }

    fn approvals(&self, filter: Filter) -> StoreFuture<'_, Vec<Approval>> {
        self.store.approvals(filter)
    }

    fn recall(&self, questions: Vec<Arc<str>>) -> StoreFuture<'_, Vec<Waiting>> {
        self.store.recall(questions)
    }

    fn revoke<'a>(&'a self, id: &'a str, by: &'a User) -> StoreFuture<'a, bool> {
        self.store.revoke(id, by)
    }

    fn run_history(&self) -> Option<&dyn RunHistory> {
        self.store.run_history()
    }
}

impl<S: fmt::Debug> fmt::Debug for MeteredStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeteredStore").field("store", &self.store).finish_non_exhaustive()
    }
}
