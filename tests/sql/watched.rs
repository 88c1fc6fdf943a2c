//! A store that tells a test of each operation, and fails where the test says so.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_core::call::{RunId, User};
use hooks_agent_core::message::Msg;
use hooks_agent_core::store::{
    Acquired, Approval, Backend, Claim, Filter, HistoryRow, InboxMessage, Lease, QuotaUse,
    Reservation, RunHistory, Steered, Step, Steps, Store, StoreError, StoreFuture, ThreadInfo,
    ThreadKey, ThreadRecord, Verdict, Waiting, Window,
};
use hooks_core::BoxFuture;
use serde_json::{Map, Value};

/// An operation of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Acquire,
    Withdraw,
    Load,
    Commit,
    Release,
    Waiting,
    Decide,
    Expire,
    Reserve,
    Settle,
}

/// When the test hears of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Before,
    After,
}

/// What a test does at an operation, by its number from 1. Renewals have none: they depend on time.
pub(crate) trait Watch: Send + Sync + 'static {
    /// Hears of an operation. An error is its result; before it, the operation does not happen.
    fn hear(&self, operation: Operation, number: usize, moment: Moment) -> Result<(), StoreError>;

    /// Returns whether the process ends after an operation, which then never returns.
    fn ends(&self, _: Operation) -> bool {
        false
    }

    /// Hears of a request for a lease.
    fn acquired(&self, _: &Acquired) {}

    /// Returns whether a step stays on its way to the store until its commit is dropped.
    fn stays(&self, _: &Step) -> bool {
        false
    }

    /// Returns whether the process ends after a step.
    fn ends_after(&self, _: &Step) -> bool {
        false
    }
}

/// A store around another one.
pub(crate) struct Watched<W> {
    store: Arc<dyn Store>,
    steps: Arc<dyn Steps>,
    watch: Arc<W>,
    count: Arc<AtomicUsize>,
}

impl<W: Watch> Watched<W> {
    pub(crate) fn new(store: Arc<dyn Store>, watch: Arc<W>) -> Self {
        let Backend::Steps(steps) = store.backend() else { panic!("no store for steps") };
        Self { store, steps, watch, count: Arc::default() }
    }

    fn run<'a, T: Send + 'a>(
        &'a self,
        operation: Operation,
        run: StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        Box::pin(async move {
            self.watch.hear(operation, number, Moment::Before)?;
            let done = run.await?;
            self.watch.hear(operation, number, Moment::After)?;
            if self.watch.ends(operation) {
                return std::future::pending().await;
            }
            Ok(done)
        })
    }
}

impl<W> Clone for Watched<W> {
    fn clone(&self) -> Self {
        let Self { store, steps, watch, count } = self;
        let (store, steps) = (store.clone(), steps.clone());
        Self { store, steps, watch: watch.clone(), count: count.clone() }
    }
}

impl<W> fmt::Debug for Watched<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watched").field(&self.store).finish()
    }
}

impl<W: Watch> Steps for Watched<W> {
    fn acquire<'a>(
        &'a self,
        thread: &'a ThreadKey,
        owner: RunId,
        claim: &'a Claim,
    ) -> StoreFuture<'a, Acquired> {
        let acquired = self.run(Operation::Acquire, self.steps.acquire(thread, owner, claim));
        Box::pin(async move {
            let acquired = acquired.await?;
            self.watch.acquired(&acquired);
            Ok(acquired)
        })
    }

    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()> {
        self.run(Operation::Withdraw, self.steps.withdraw(thread, owner))
    }

    fn freed<'a>(&'a self, thread: &'a ThreadKey) -> BoxFuture<'a, ()> {
        self.steps.freed(thread)
    }

    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord> {
        self.run(Operation::Load, self.steps.load(lease))
    }

    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()> {
        let stays = self.watch.stays(step);
        let commit = self.run(Operation::Commit, self.steps.commit(lease, step));
        Box::pin(async move {
            if stays {
                return std::future::pending().await;
            }
            commit.await?;
            if self.watch.ends_after(step) {
                return std::future::pending().await;
            }
            Ok(())
        })
    }

    fn inbox<'a>(
        &'a self,
        lease: &'a Lease,
        after: u64,
        stored: u64,
    ) -> StoreFuture<'a, Vec<InboxMessage>> {
        self.steps.inbox(lease, after, stored)
    }

    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>> {
        self.steps.renew(leases)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.run(Operation::Release, self.steps.release(lease))
    }

    fn lease_time(&self) -> Duration {
        self.steps.lease_time()
    }

    fn keeps_quotas(&self) -> bool {
        self.steps.keeps_quotas()
    }
}

impl<W: Watch> Store for Watched<W> {
    fn backend(&self) -> Backend {
        Backend::Steps(Arc::new(self.clone()))
    }

    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
        self.run(Operation::Waiting, self.store.waiting(filter))
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        self.run(Operation::Decide, self.store.decide(verdicts))
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        self.run(Operation::Expire, self.store.expire())
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

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.store.prune(filter)
    }

    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.store.forget(filter)
    }

    fn reserve(&self, reservations: Vec<Reservation>) -> StoreFuture<'_, Vec<Reservation>> {
        self.run(Operation::Reserve, self.store.reserve(reservations))
    }

    fn settle(&self, used: Vec<Reservation>) -> StoreFuture<'_, ()> {
        self.run(Operation::Settle, self.store.settle(used))
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
