//! A call on a thread that is in a store outside of the process.

use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hooks_core::BoxFuture;
use tokio::sync::Mutex as Queue;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::call::CallContext;
use crate::memory::{Memory, Moment, Running, SaveThread, Served, Through};
use crate::message::Msg;
use crate::store::{
    Durability, InboxMessage, Lease, Reservation, Step, Steps, Store, StoreError, ThreadRecord,
    Waiting,
};
use crate::thread::keeper::Keeper;
use crate::thread::leased::Leased;

/// How long a commit waits before it is tried again if the store is not available. Each pause is twice
/// as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// For how long a commit is tried again at the least. It is a third of the time of a lease, if that is
/// longer.
const TRIED: Duration = Duration::from_millis(1500);

/// Where the threads of an agent are, and how often they are written.
#[derive(Clone)]
pub(super) struct Backing {
    pub(super) store: Arc<dyn Store>,
    pub(super) steps: Arc<dyn Steps>,
    pub(super) keeper: Arc<Keeper>,
    pub(super) durability: Durability,
}

/// A call on a thread that is in a store: the one place that writes it.
///
/// What memory has and the store has not is written as one step.
pub(crate) struct Session {
    backing: Backing,
    lease: Lease,
    pub(super) memory: Arc<Memory>,
    /// The user of the thread, until a step has written it.
    user: Mutex<Option<Arc<str>>>,
    lost: CancellationToken,
    pub(super) is_recovery: AtomicBool,
    /// Whether the call that was cut off served the same tool call of another agent.
    pub(super) continues: AtomicBool,
    /// Whether a call runs, and not only reads or observes.
    pub(super) is_call: AtomicBool,
    is_over: AtomicBool,
    /// Whether the store refuses what memory has, which can never be written then.
    is_refused: AtomicBool,
    /// The step that is being written, or that was when the call was dropped or the store failed.
    unsure: Queue<Option<Step>>,
}

/// A tool call that starts with a step.
struct Start<'a> {
    tool_call: &'a str,
    /// Whether it does not start again after its process ended.
    is_once: bool,
    reservations: Vec<Reservation>,
}

/// A session that ends when this is dropped: the lease is released then. What was not written stays in
/// memory and is part of the next step, if no other process has written to the thread until then.
pub(crate) struct OpenSession {
    session: Arc<Session>,
    _leased: Leased,
}

impl OpenSession {
    /// Begins with a lease that was granted to a call.
    pub(super) fn new(
        backing: &Backing,
        lease: Lease,
        memory: Arc<Memory>,
        user: Option<Arc<str>>,
        cx: &CallContext,
    ) -> Result<Self, StoreError> {
        let lost = backing.keeper.hold(&lease)?;
        let leased = Leased::new(lease.thread.clone(), cx);
        let session = Arc::new(Session {
            backing: backing.clone(),
            lease,
            memory,
            user: Mutex::new(user),
            lost,
            is_recovery: AtomicBool::new(false),
            continues: AtomicBool::new(false),
            is_call: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
            unsure: Queue::default(),
        });
        Ok(Self { session, _leased: leased })
    }

    pub(super) fn shared(&self) -> Arc<Session> {
        self.session.clone()
    }
}

impl Deref for OpenSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Session {
    /// Reads the thread if memory does not have this version of it.
    pub(super) async fn refresh(&self, version: u64) -> Result<(), StoreError> {
        let row = self.lease.row;
        let is_current = self.memory.version() == Some((row, version));
        if is_current && self.memory.questions().is_empty() {
            self.backing.keeper.read(&self.lease);
            return Ok(());
        }
        if version == 0 {
            // Nothing was written to it.
            self.memory.restore_record(ThreadRecord::default(), row)?;
            self.backing.keeper.read(&self.lease);
            return Ok(());
        }
        let mut record = self.backing.steps.load(&self.lease).await?;
        let may_expire = |it: &Waiting| it.expires.is_some() && it.decided.is_none();
        if record.waiting.iter().any(may_expire) {
            // How many expired is not known if the store was asked twice.
            self.backing.store.expire().await?;
            record = self.backing.steps.load(&self.lease).await?;
        }
        if is_current {
            self.memory.refresh_questions(record.waiting);
        } else {
            self.memory.restore_record(record, row)?;
        }
        self.backing.keeper.read(&self.lease);
        Ok(())
    }

    /// Returns the reply to the same tool call of another agent, which was cut off before it had stored
    /// the result.
    pub(crate) fn served(&self, through: Option<&Through>) -> Option<Msg> {
        let through = through.filter(|through| through.key.is_some())?;
        let served = self.memory.served().filter(|served| served.through == *through);
        served.map(|served| served.reply)
    }

    /// Notes the reply of a call that serves a tool call of another agent.
    pub(crate) fn serve(&self, through: Option<&Through>, reply: &Msg) {
        let is_done = reply.pending().is_empty();
        let through = through.filter(|through| through.key.is_some() && is_done);
        self.memory.set_served(
            through.map(|through| Served { through: through.clone(), reply: reply.clone() }),
        );
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
        self.leave().await
    }

    /// Writes the call as one with which another process goes on, and releases the lease.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        if self.is_over() {
            return Err(self.lease_lost());
        }
        self.leave_call();
        // What is observed from here on waits for the lease.
        self.backing.keeper.drop_lease(&self.lease);
        if !self.write(true).await? {
            self.backing.steps.release(&self.lease).await?;
        }
        self.is_over.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Writes what memory has and the store has not. Returns whether there was something.
    pub(super) async fn write(&self, releases: bool) -> Result<bool, StoreError> {
        self.write_step(Memory::step, releases, None).await
    }

    async fn write_step(
        &self,
        step: fn(&Memory) -> Option<Step>,
        releases: bool,
        start: Option<Start<'_>>,
    ) -> Result<bool, StoreError> {
        let mut unsure = self.unsure.lock().await;
        if self.is_over() {
            return Err(self.lease_lost());
        }
        if let Some(step) = &mut *unsure {
            // It may have been written: this is the same step, so that it is not written twice. The tool that
            // it was to start did not run, and uses nothing.
            step.reservations.clear();
            self.send(step, true).await?;
            self.wrote(unsure.take());
        }
        // Not before: a step of another tool call would have the start of this one.
        let is_new = |it: &Start<'_>| it.is_once && self.memory.start_call(it.tool_call);
        let started = start.as_ref().filter(|it| is_new(it)).map(|it| it.tool_call);
        let Some(mut step) = step(&self.memory) else { return Ok(false) };
        step.releases = releases;
        step.reservations = start.map(|it| it.reservations).unwrap_or_default();
        step.user.clone_from(&self.user.lock().unwrap_or_else(PoisonError::into_inner));
        let sent = self.send(unsure.insert(step), false).await;
        if let Err(StoreError::Quota(_)) = sent {
            // It is not written: the next step has what it had, without the reservations.
            *unsure = None;
            if let Some(tool_call) = started {
                self.memory.unstart_call(tool_call);
            }
        }
        sent?;
        self.wrote(unsure.take());
        Ok(true)
    }

    /// Commits a step, again if the store is not available.
    async fn send(&self, step: &Step, mut is_retry: bool) -> Result<(), StoreError> {
        let begin = Instant::now();
        let longest = (self.backing.steps.lease_time() / 3).max(TRIED);
        let mut pause = FIRST_PAUSE;
        loop {
            match self.backing.steps.commit(&self.lease, step).await {
                Ok(()) => return Ok(()),
                // The attempt before was written, though the store did not say so: nobody else may
                // write while the lease holds.
                Err(StoreError::Conflict { found, .. })
                    if is_retry && found == step.version + 1 =>
                {
                    return Ok(());
                }
                Err(error) if error.is_transient() => {
                    if begin.elapsed() + pause > longest {
                        return Err(error);
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(error @ (StoreError::LeaseLost { .. } | StoreError::Conflict { .. })) => {
                    self.lost.cancel();
                    return Err(error);
                }
                Err(error) => {
                    let is_refused =
                        matches!(error, StoreError::Name(_) | StoreError::TooDeep { .. });
                    self.is_refused.fetch_or(is_refused, Ordering::Relaxed);
                    return Err(error);
                }
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

    /// Notes that the call was left. One that was cut off, and that this session only reads or observes
    /// beside, stays as it is.
    fn leave_call(&self) {
        let is_call = self.is_call.load(Ordering::Relaxed);
        if let Some(running) = self.memory.running().filter(|_| is_call) {
            self.memory.set_running(Some(Running { is_left: true, ..running }));
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
        let writes = self.backing.durability == Durability::Step || moment == Moment::Question;
        Box::pin(async move { if writes { self.write(false).await.map(drop) } else { Ok(()) } })
    }

    fn commit_values(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.write_step(Memory::values_step, false, None).await.map(drop) })
    }

    fn start<'a>(
        &'a self,
        tool_call: &'a str,
        is_once: bool,
        reservations: Vec<Reservation>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if self.backing.durability == Durability::Step && !reservations.is_empty() {
                if !self.backing.steps.keeps_quotas() {
                    return Err(StoreError::NoQuotas);
                }
                let start = Start { tool_call, is_once, reservations };
                return self.write_step(Memory::any_step, false, Some(start)).await.map(drop);
            }
            // Nothing of the call is written before it ends if not each step is.
            if !reservations.is_empty() {
                self.backing.store.reserve(reservations).await?;
            }
            if is_once {
                self.memory.start_call(tool_call);
            }
            self.commit(Moment::Step).await
        })
    }

    fn inbox(&self) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>> {
        let (heard, stored) = self.memory.heard();
        Box::pin(async move { self.backing.steps.inbox(&self.lease, heard, stored).await })
    }

    fn store(&self) -> &dyn Store {
        &*self.backing.store
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
        let Session { lost, is_refused, is_over, memory, backing, lease, .. } = &*self.session;
        if is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        if lost.is_cancelled() || is_refused.load(Ordering::Relaxed) {
            // Another process goes on with the thread, or the store does not take what memory has: the
            // thread is read again.
            memory.expire_record();
        } else {
            self.session.end_call();
        }
        // If another process has the lease, this does nothing.
        backing.keeper.release(lease);
    }
}
