//! Wraps the steps of a store, and counts the reads and writes of threads.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hooks_core::BoxFuture;

use crate::observe::metered_store::shared::Shared;
use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{
    Acquired, Claim, InboxMessage, Lease, Step, Steps, StoreFuture, ThreadKey, ThreadRecord,
};

pub(super) struct MeteredSteps {
    steps: Arc<dyn Steps>,
    shared: Arc<Shared>,
}

impl MeteredSteps {
    pub(super) fn new(steps: Arc<dyn Steps>, shared: Arc<Shared>) -> Self {
        Self { steps, shared }
    }
}

impl Steps for MeteredSteps {
    fn acquire<'a>(
        &'a self,
        thread: &'a ThreadKey,
        owner: RunId,
        claim: &'a Claim,
    ) -> StoreFuture<'a, Acquired> {
        Box::pin(async move {
            let acquired = self.steps.acquire(thread, owner, claim).await?;
            match &acquired {
                Acquired::Granted { lease, is_takeover, .. } => {
                    self.shared.grant(lease, *is_takeover);
                }
                Acquired::Busy => self.shared.wait(thread, owner),
                Acquired::OtherUser => {}
            }
            Ok(acquired)
        })
    }

    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()> {
        self.shared.end_wait(thread, owner, "withdrawn");
        self.steps.withdraw(thread, owner)
    }

    fn freed<'a>(&'a self, thread: &'a ThreadKey) -> BoxFuture<'a, ()> {
        self.steps.freed(thread)
    }

    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord> {
        Box::pin(async move {
            let loaded = self.steps.load(lease).await;
            if let Err(error) = &loaded {
                self.shared.lost_by(lease, error);
            }
            loaded
        })
    }

    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let began = Instant::now();
            let written = self.steps.commit(lease, step).await;
            self.shared.commit(lease, step, began.elapsed(), &written);
            written
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
        Box::pin(async move {
            let lost = self.steps.renew(leases).await?;
            for lease in &lost {
                self.shared.lost(lease);
            }
            Ok(lost)
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.shared.release(lease);
        self.steps.release(lease)
    }

    fn lease_time(&self) -> Duration {
        self.steps.lease_time()
    }

    fn keeps_quotas(&self) -> bool {
        self.steps.keeps_quotas()
    }
}

impl fmt::Debug for MeteredSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.fmt(f)
    }
}
