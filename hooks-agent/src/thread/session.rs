//! A call on a thread that is in a store outside of the process.

use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hooks_core::BoxFuture;
use tokio::sync::Mutex as Queue;
use tokio_util::sync::CancellationToken;

use crate::memory::{Memory, Moment, Running, SaveThread};
use crate::store::{Durability, Lease, Step, Steps, Store, StoreError};
use crate::thread::durable::Durable;
use crate::thread::keeper::Keeper;

/// How long a commit waits before it is tried again, each time, if the store is not available.
const RETRIES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(250), Duration::from_secs(1)];

/// A call on a thread that is in a store: the one place that writes it.
///
/// What memory has and the store has not is written as one step.
pub(crate) struct Session {
    store: Arc<dyn Store>,
    steps: Arc<dyn Steps>,
    keeper: Arc<Keeper>,
    lease: Lease,
    memory: Arc<Memory>,
    durability: Durability,
    /// The user of the thread, until a step has written it.
    user: Mutex<Option<Arc<str>>>,
    lost: CancellationToken,
    is_recovery: AtomicBool,
    /// Whether the call that was cut off served the same tool call of another agent.
    continues: AtomicBool,
    /// Whether a call runs, and not only reads or observes.
    is_call: AtomicBool,
    is_over: AtomicBool,
    /// The step that is being written, or that was when the call was dropped or the store failed.
    unsure: Queue<Option<Step>>,
}

/// A session that ends when this is dropped: the lease is released then. What was not written stays in
/// memory and is part of the next step, if no other process has written to the thread until then.
pub(crate) struct OpenSession(Arc<Session>);

impl OpenSession {
    /// Begins with a lease that was granted.
    pub(super) fn new(
        durable: &Durable,
        lease: Lease,
        memory: Arc<Memory>,
        user: Option<Arc<str>>,
    ) -> Result<Self, StoreError> {
        let lost = durable.keeper().hold(&lease)?;
        Ok(Self(Arc::new(Session {
            store: durable.store().clone(),
            steps: durable.steps().clone(),
            keeper: durable.keeper().clone(),
            lease,
            memory,
            durability: durable.durability,
            user: Mutex::new(user),
            lost,
            is_recovery: AtomicBool::new(false),
            continues: AtomicBool::new(false),
            is_call: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            unsure: Queue::default(),
        })))
    }

    pub(super) fn shared(&self) -> Arc<Session> {
        self.0.clone()
    }
}

impl Deref for OpenSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl Session {
    /// Reads the thread if memory does not have this version of it.
    pub(super) async fn refresh(&self, version: u64) -> Result<(), StoreError> {
        let is_current = self.memory.version() == Some(version);
        if is_current && self.memory.questions().is_empty() {
            return Ok(());
        }
        self.store.expire().await?;
        let record = self.steps.load(&self.lease).await?;
        if is_current {
            self.memory.refresh_questions(record.waiting);
        } else {
            self.memory.restore_record(record)?;
        }
        Ok(())
    }

    /// Notes the call in progress.
    pub(super) fn start(&self, running: Running) {
        self.is_call.store(true, Ordering::Relaxed);
        let cut_off = self.memory.running();
        let continues = cut_off
            .as_ref()
            .is_some_and(|cut_off| cut_off.through.is_some() && cut_off.through == running.through);
        self.is_recovery.store(cut_off.is_some(), Ordering::Relaxed);
        self.continues.store(continues, Ordering::Relaxed);
        self.memory.set_running(Some(running));
    }

    /// Runs the call until it ends or the lease is lost.
    pub(crate) async fn guard<T>(
        &self,
        call: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, StoreError> {
        match select(call, pin!(self.lost.cancelled())).await {
            Either::Left((ended, _)) if !self.lost.is_cancelled() => Ok(ended),
            _ => Err(self.lease_lost()),
        }
    }

    /// Writes the end of the call and releases the lease.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        if self.is_over() {
            return Err(self.lease_lost());
        }
        self.end_call();
        // What is observed from here on waits for the lease.
        self.keeper.drop_lease(&self.lease);
        if !self.write(true).await? {
            self.steps.release(&self.lease).await?;
        }
        self.is_over.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Writes what memory has and the store has not. Returns whether there was something.
    async fn write(&self, releases: bool) -> Result<bool, StoreError> {
        let mut unsure = self.unsure.lock().await;
        if self.is_over() {
            return Err(self.lease_lost());
        }
        if let Some(step) = &*unsure {
            // It may have been written: this is the same step, so that it is not written twice.
            self.send(step, true).await?;
            self.wrote(unsure.take());
        }
        let Some(mut step) = self.memory.step() else { return Ok(false) };
        step.releases = releases;
        step.user = self.user.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.send(unsure.insert(step), false).await?;
        self.wrote(unsure.take());
        Ok(true)
    }

    /// Commits a step, again if the store is not available.
    async fn send(&self, step: &Step, mut is_retry: bool) -> Result<(), StoreError> {
        let mut retries = RETRIES.iter();
        loop {
            match self.steps.commit(&self.lease, step).await {
                Ok(()) => return Ok(()),
                // The attempt before was written, though the store did not say so: nobody else may
                // write while the lease holds.
                Err(StoreError::Conflict { found, .. })
                    if is_retry && found == step.version + 1 =>
                {
                    return Ok(());
                }
                Err(error) if error.is_transient() => match retries.next() {
                    Some(pause) => tokio::time::sleep(*pause).await,
                    None => return Err(error),
                },
                Err(error @ (StoreError::LeaseLost { .. } | StoreError::Conflict { .. })) => {
                    self.lost.cancel();
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
            is_retry = true;
        }
    }

    fn wrote(&self, step: Option<Step>) {
        if let Some(step) = step {
            self.memory.committed(&step);
            *self.user.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    fn end_call(&self) {
        if self.is_call.load(Ordering::Relaxed) {
            self.memory.set_running(None);
        }
    }

    fn is_over(&self) -> bool {
        self.lost.is_cancelled() || self.is_over.load(Ordering::Relaxed)
    }

    fn lease_lost(&self) -> StoreError {
        StoreError::LeaseLost { thread: self.lease.thread.clone() }
    }
}

impl SaveThread for Session {
    fn commit(&self, moment: Moment) -> BoxFuture<'_, Result<(), StoreError>> {
        let writes = self.durability == Durability::Step || moment == Moment::Question;
        Box::pin(async move { if writes { self.write(false).await.map(drop) } else { Ok(()) } })
    }

    fn is_recovery(&self) -> bool {
        self.is_recovery.load(Ordering::Relaxed)
    }

    fn continues(&self) -> bool {
        self.continues.load(Ordering::Relaxed)
    }

    fn end_recovery(&self) {
        self.is_recovery.store(false, Ordering::Relaxed);
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let Session { lost, is_over, memory, keeper, lease, .. } = &*self.0;
        if is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        if lost.is_cancelled() {
            // Another process goes on with the thread: what memory has is read again.
            memory.expire_record();
        } else {
            self.0.end_call();
        }
        // Does nothing to the lease of another owner.
        keeper.release(lease);
    }
}
