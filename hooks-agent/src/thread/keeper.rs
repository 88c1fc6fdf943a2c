//! Keeps the leases of an agent's calls while they run.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::run_id::RunId;
use crate::store::{Lease, Steps, StoreError, ThreadKey};

/// Keeps the leases of an agent's calls: one task renews them, and releases those of calls that were
/// dropped. The task ends with the agent.
pub(super) struct Keeper {
    store: Arc<dyn Steps>,
    held: Arc<Held>,
    jobs: Mutex<Option<UnboundedSender<Job>>>,
}

type Held = Mutex<Vec<Kept>>;

/// A lease of a call.
struct Kept {
    lease: Lease,
    lost: CancellationToken,
    /// Whether memory is up to date.
    is_read: bool,
}

/// What the task does for a call that was dropped.
enum Job {
    Release(Lease),
    /// A request for a lease was dropped, and may have been granted.
    Withdraw(ThreadKey, RunId),
}

impl Keeper {
    pub(super) fn new(store: Arc<dyn Steps>) -> Self {
        Self { store, held: Arc::default(), jobs: Mutex::default() }
    }

    /// Keeps a lease. The token is cancelled when it is lost.
    pub(super) fn hold(&self, lease: &Lease) -> Result<CancellationToken, StoreError> {
        self.jobs()?;
        let lost = CancellationToken::new();
        let kept = Kept { lease: lease.clone(), lost: lost.clone(), is_read: false };
        lock(&self.held).push(kept);
        Ok(lost)
    }

    /// Notes that the memory of the thread is up to date.
    pub(super) fn read(&self, lease: &Lease) {
        for kept in lock(&self.held).iter_mut().filter(|kept| kept.lease == *lease) {
            kept.is_read = true;
        }
    }

    /// Returns whether a call of this agent has the lease of a thread, and its memory is up to date.
    pub(super) fn holds(&self, thread: &ThreadKey) -> bool {
        lock(&self.held).iter().any(|kept| kept.is_read && kept.lease.thread == *thread)
    }

    /// Renews a lease no longer.
    pub(super) fn drop_lease(&self, lease: &Lease) {
        lock(&self.held).retain(|kept| kept.lease != *lease);
    }

    /// Releases a lease, soon.
    pub(super) fn release(&self, lease: &Lease) {
        self.drop_lease(lease);
        // Without a runtime the lease ends by its time.
        if let Ok(jobs) = self.jobs() {
            let _ = jobs.send(Job::Release(lease.clone()));
        }
    }

    /// Notes a request for a lease, which is withdrawn if it is dropped.
    pub(super) fn request(&self, thread: &ThreadKey, owner: RunId) -> Result<Request, StoreError> {
        Ok(Request { jobs: self.jobs()?, waits: Some((thread.clone(), owner)) })
    }

    /// Returns the task, which is started if it does not run.
    fn jobs(&self) -> Result<UnboundedSender<Job>, StoreError> {
        let mut jobs = lock(&self.jobs);
        if let Some(jobs) = jobs.as_ref().filter(|jobs| !jobs.is_closed()) {
            return Ok(jobs.clone());
        }
        let runtime = Handle::try_current().map_err(|error| StoreError::Open {
            reason: "an agent with a store runs on a runtime of tokio".to_owned(),
            source: Some(error.into()),
        })?;
        let (sender, receiver) = unbounded_channel();
        runtime.spawn(keep(self.store.clone(), Arc::downgrade(&self.held), receiver));
        *jobs = Some(sender.clone());
        Ok(sender)
    }
}

/// A request for a lease.
pub(super) struct Request {
    jobs: UnboundedSender<Job>,
    waits: Option<(ThreadKey, RunId)>,
}

impl Request {
    /// Notes that the lease was granted.
    pub(super) fn granted(mut self) {
        self.waits = None;
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some((thread, owner)) = self.waits.take() {
            let _ = self.jobs.send(Job::Withdraw(thread, owner));
        }
    }
}

async fn keep(store: Arc<dyn Steps>, held: Weak<Held>, mut jobs: UnboundedReceiver<Job>) {
    let every = (store.lease_time() / 3).max(Duration::from_millis(1));
    let mut renewal = Box::pin(sleep(every));
    loop {
        // The renewal is polled first: jobs must not keep it waiting.
        match select(&mut renewal, pin!(jobs.recv())).await {
            Either::Left(_) => {
                let Some(held) = held.upgrade() else { return };
                // A store that does not answer must not keep the task from the next renewal.
                let _ = timeout(every, renew(&*store, &held)).await;
                renewal.set(sleep(every));
            }
            Either::Right((None, _)) => return,
            Either::Right((Some(job), _)) => {
                let _ = timeout(every, run(&*store, job)).await;
            }
        }
    }
}

async fn renew(store: &dyn Steps, held: &Held) {
    let leases: Vec<_> = lock(held).iter().map(|kept| kept.lease.clone()).collect();
    if leases.is_empty() {
        return;
    }
    match store.renew(&leases).await {
        Ok(lost) => {
            for kept in &*lock(held) {
                if lost.contains(&kept.lease) {
                    kept.lost.cancel();
                }
            }
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "leases could not be renewed");
        }
    }
}

async fn run(store: &dyn Steps, job: Job) {
    let done = match job {
        Job::Release(lease) => store.release(&lease).await,
        Job::Withdraw(thread, owner) => store.withdraw(&thread, owner).await,
    };
    if let Err(error) = done {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "a lease could not be released: it ends by its time");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
