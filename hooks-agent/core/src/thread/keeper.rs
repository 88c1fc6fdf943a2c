//! Keeps the leases of an agent's calls while they run.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::run_id::RunId;
use crate::store::{Lease, Steps, StoreError, ThreadKey};

/// How long a release that failed waits before it is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Keeps the leases of an agent's calls: one task renews them, and releases those of calls that were
/// dropped. A release that fails is tried again until the time of the lease is over. The task ends with
/// the agent, and with what it has to release.
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
    /// Until when nobody else is granted it.
    until: Instant,
    /// Whether memory is up to date.
    is_read: bool,
}

/// What the task does for a call that was dropped.
enum Job {
    Release(Lease),
    /// A request for a lease was dropped, and may have been granted.
    Withdraw(ThreadKey, RunId),
    /// Somebody waits until the jobs before this one are done.
    Tell(oneshot::Sender<()>),
}

impl Keeper {
    pub(super) fn new(store: Arc<dyn Steps>) -> Self {
        Self { store, held: Arc::default(), jobs: Mutex::default() }
    }

    /// Keeps a lease. The token is cancelled when it is lost, or may be: when it could not be renewed
    /// for as long as it lasts.
    pub(super) fn hold(&self, lease: &Lease) -> Result<CancellationToken, StoreError> {
        self.jobs()?;
        let lost = CancellationToken::new();
        let until = Instant::now() + self.store.lease_time();
        let kept = Kept { lease: lease.clone(), lost: lost.clone(), until, is_read: false };
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
        Ok(Request { jobs: self.jobs()?, thread: thread.clone(), owner, waits: true })
    }

    /// Waits until the leases of the calls that were dropped are released, or were tried to.
    pub(super) async fn done(&self) {
        let Ok(jobs) = self.jobs() else { return };
        let (done, is_done) = oneshot::channel();
        let _ = jobs.send(Job::Tell(done));
        let _ = is_done.await;
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
    thread: ThreadKey,
    owner: RunId,
    waits: bool,
}

impl Request {
    /// Returns for whom the lease is requested.
    pub(super) fn owner(&self) -> RunId {
        self.owner
    }

    /// Notes that the lease was granted.
    pub(super) fn granted(&mut self) {
        self.waits = false;
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.waits {
            let _ = self.jobs.send(Job::Withdraw(self.thread.clone(), self.owner));
        }
    }
}

/// A job that failed, and until when it is tried again.
struct Failed {
    job: Job,
    until: Instant,
}

/// What the task wakes up for.
enum Event {
    Renewal,
    /// A job, or the end of the agent.
    Job(Option<Job>),
    /// A job that failed is tried again.
    Again,
}

async fn keep(store: Arc<dyn Steps>, held: Weak<Held>, mut jobs: UnboundedReceiver<Job>) {
    let every = (store.lease_time() / 3).max(Duration::from_millis(1));
    let pause = TRY_AGAIN.min(every);
    let mut failed: VecDeque<Failed> = VecDeque::new();
    let mut renewal = Box::pin(sleep(every));
    loop {
        let event = {
            let again = pin!(wait_again((!failed.is_empty()).then_some(pause)));
            let job = pin!(jobs.recv());
            // The renewal is polled first: jobs must not keep it waiting.
            match select(&mut renewal, select(job, again)).await {
                Either::Left(_) => Event::Renewal,
                Either::Right((Either::Left((job, _)), _)) => Event::Job(job),
                Either::Right((Either::Right(_), _)) => Event::Again,
            }
        };
        match event {
            Event::Renewal => {
                let Some(held) = held.upgrade() else { break };
                // A store that does not answer must not keep the task from the next renewal.
                let _ = timeout(every, renew(&*store, &held)).await;
                give_up(&held);
                renewal.set(sleep(every));
            }
            Event::Again => retry(&*store, &mut failed, every).await,
            Event::Job(None) => break,
            Event::Job(Some(Job::Tell(done))) => drop(done.send(())),
            Event::Job(Some(job)) => {
                let until = Instant::now() + store.lease_time();
                if !is_done(&*store, &job, every).await {
                    failed.push_back(Failed { job, until });
                }
            }
        }
    }
    while !failed.is_empty() {
        sleep(pause).await;
        retry(&*store, &mut failed, every).await;
    }
}

/// Waits, for ever without a pause.
async fn wait_again(pause: Option<Duration>) {
    match pause {
        Some(pause) => sleep(pause).await,
        None => pending().await,
    }
}

/// Tries the job that failed first again. Afterwards its lease has ended by its time.
async fn retry(store: &dyn Steps, failed: &mut VecDeque<Failed>, longest: Duration) {
    let Some(first) = failed.pop_front() else { return };
    if Instant::now() < first.until && !is_done(store, &first.job, longest).await {
        failed.push_back(first);
    }
}

async fn renew(store: &dyn Steps, held: &Held) {
    let leases: Vec<_> = lock(held).iter().map(|kept| kept.lease.clone()).collect();
    if leases.is_empty() {
        return;
    }
    let until = Instant::now() + store.lease_time();
    match store.renew(&leases).await {
        Ok(lost) => {
            for kept in lock(held).iter_mut().filter(|kept| leases.contains(&kept.lease)) {
                kept.until = until;
                if lost.contains(&kept.lease) {
                    kept.lost.cancel();
                }
            }
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(target: "hooks_agent::thread", error, "leases could not be renewed");
        }
    }
}

/// Cancels the calls whose leases could not be renewed in time: others may have them.
fn give_up(held: &Held) {
    let now = Instant::now();
    for kept in lock(held).iter().filter(|kept| kept.until <= now) {
        tracing::warn!(
            target: "hooks_agent::thread",
            agent = kept.lease.thread.agent(),
            thread = kept.lease.thread.thread(),
            "a call ends: its lease could not be renewed in time"
        );
        kept.lost.cancel();
    }
}

/// Runs a job. Returns whether it need not be tried again.
async fn is_done(store: &dyn Steps, job: &Job, longest: Duration) -> bool {
    let run = async {
        match job {
            Job::Release(lease) => store.release(lease).await,
            Job::Withdraw(thread, owner) => store.withdraw(thread, *owner).await,
            Job::Tell(_) => Ok(()),
        }
    };
    let Ok(done) = timeout(longest, run).await else { return false };
    let Err(error) = done else { return true };
    let is_transient = error.is_transient();
    let error = &error as &dyn std::error::Error;
    tracing::warn!(
        target: "hooks_agent::thread",
        error, is_transient, "a lease could not be released"
    );
    !is_transient
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
