//! The threads of an agent in a store outside of the process.

use std::fmt;
use std::sync::Arc;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::memory::{Memory, Running};
use crate::message::Messages;
use crate::run_id::RunId;
use crate::store::key::check_name;
use crate::store::{
    Acquired, DecisionError, Durability, Filter, Lease, Step, Steps, Store, StoreError, ThreadKey,
    ThreadRecord, Unknown, Verdict,
};
use crate::thread::keeper::Keeper;
use crate::thread::session::{Backing, OpenSession};

/// How the threads of an agent are stored.
pub(crate) struct Durable {
    backing: Backing,
    agent: Arc<str>,
    pub(crate) unknown: Unknown,
}

impl Durable {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        steps: Arc<dyn Steps>,
        agent: Arc<str>,
        durability: Durability,
        unknown: Unknown,
    ) -> Self {
        let keeper = Arc::new(Keeper::new(steps.clone()));
        Self { backing: Backing { store, steps, keeper, durability }, agent, unknown }
    }

    /// Begins a call on a thread: stores its decisions, waits for the lease, and brings memory up to
    /// date.
    pub(crate) async fn begin(
        &self,
        cx: &CallContext,
        memory: Arc<Memory>,
    ) -> Result<OpenSession, AgentError> {
        if let Some(user) = cx.user() {
            check_name("id of the user", user).map_err(StoreError::from)?;
        }
        let verdicts = cx.verdicts();
        if !verdicts.is_empty() {
            self.decide(cx, verdicts).await?;
        }
        let session = match cx.queue_timeout() {
            None => self.open(cx, memory).await?,
            Some(after) => {
                let opened = tokio::time::timeout(after, self.open(cx, memory)).await;
                opened.map_err(|_| AgentError::QueueTimeout {
                    agent: cx.agent_name().to_owned(),
                    thread: cx.thread_id().to_owned(),
                    after,
                })??
            }
        };
        cx.set_saver(session.shared());
        Ok(session)
    }

    /// Stores decisions about tool calls of the thread, and of no other.
    async fn decide(&self, cx: &CallContext, verdicts: &[Verdict]) -> Result<(), StoreError> {
        let of_thread = Filter::agent(self.agent.clone()).thread(cx.thread_id());
        let own = self.backing.store.waiting(of_thread).await?;
        let others: Vec<_> =
            verdicts.iter().filter(|verdict| own.iter().all(|it| it.id != verdict.id)).collect();
        if !others.is_empty() {
            // One that waits nowhere is decided or unknown, which the store says.
            let all = self.backing.store.waiting(Filter::all()).await?;
            let elsewhere = |id: &Arc<str>| all.iter().any(|waiting| waiting.id == *id);
            if let Some(Verdict { id, .. }) = others.into_iter().find(|it| elsewhere(&it.id)) {
                return Err(DecisionError::Unknown { id: id.clone() }.into());
            }
        }
        self.backing.store.decide(verdicts.to_vec()).await
    }

    /// Waits for the lease of a thread and brings memory up to date.
    async fn open(&self, cx: &CallContext, memory: Arc<Memory>) -> Result<OpenSession, StoreError> {
        let key = ThreadKey::new(self.agent.clone(), cx.thread_id())?;
        let (lease, version) = self.acquire(&key, cx).await?;
        let session = OpenSession::new(&self.backing, lease, memory, cx.user().map(Into::into))?;
        session.refresh(version).await?;
        let through = cx.through().cloned();
        session.start(Running { run: cx.run_id(), through });
        Ok(session)
    }

    async fn acquire(&self, key: &ThreadKey, cx: &CallContext) -> Result<(Lease, u64), StoreError> {
        let request = self.backing.keeper.request(key, cx.run_id())?;
        loop {
            match self.backing.steps.acquire(key, cx.run_id()).await? {
                Acquired::Granted { lease, version, is_takeover } => {
                    if is_takeover {
                        tracing::warn!(
                            agent = key.agent(),
                            thread = key.thread(),
                            "a call takes over a thread whose owner ended without releasing it"
                        );
                    }
                    request.granted();
                    return Ok((lease, version));
                }
                Acquired::Busy => self.backing.steps.freed(key).await,
            }
        }
    }

    /// Brings the memory of a thread up to date, unless a call of this process or of another one runs
    /// on it.
    pub(crate) async fn refresh(
        &self,
        cx: &CallContext,
        memory: &Arc<Memory>,
    ) -> Result<(), StoreError> {
        let key = ThreadKey::new(self.agent.clone(), cx.thread_id())?;
        if self.backing.keeper.holds(&key) {
            return Ok(());
        }
        let request = self.backing.keeper.request(&key, cx.run_id())?;
        let Acquired::Granted { lease, version, .. } =
            self.backing.steps.acquire(&key, cx.run_id()).await?
        else {
            return Ok(());
        };
        request.granted();
        let session = OpenSession::new(&self.backing, lease, memory.clone(), None)?;
        session.refresh(version).await?;
        session.close().await
    }

    /// Returns whether a call of this process runs on the thread of a call.
    pub(crate) fn is_running(&self, cx: &CallContext) -> bool {
        self.runs_on(cx.thread_id())
    }

    /// Returns whether a call of this process runs on the thread.
    pub(super) fn runs_on(&self, thread: &str) -> bool {
        let key = ThreadKey::new(self.agent.clone(), thread);
        key.is_ok_and(|key| self.backing.keeper.holds(&key))
    }

    /// Appends messages that are observed.
    pub(crate) async fn observe(
        &self,
        cx: &CallContext,
        memory: &Arc<Memory>,
        messages: Messages,
    ) -> Result<(), StoreError> {
        let key = ThreadKey::new(self.agent.clone(), cx.thread_id())?;
        if self.backing.keeper.holds(&key) {
            // The call that runs writes them.
            memory.extend(messages);
            return Ok(());
        }
        let (lease, version) = self.acquire(&key, cx).await?;
        let session = OpenSession::new(&self.backing, lease, memory.clone(), None)?;
        session.refresh(version).await?;
        memory.extend(messages);
        session.close().await
    }

    /// Reads a thread, when no call owns it.
    pub(crate) async fn read(&self, key: &ThreadKey) -> Result<ThreadRecord, StoreError> {
        let lease = self.lease(key).await?;
        let record = self.backing.steps.load(&lease).await;
        self.backing.steps.release(&lease).await?;
        record
    }

    /// Writes a step, when no call owns the thread; one that is written already is not written again.
    pub(crate) async fn write(&self, key: &ThreadKey, step: &Step) -> Result<(), StoreError> {
        let lease = self.lease(key).await?;
        let step = Step { releases: true, ..step.clone() };
        let written = self.backing.steps.commit(&lease, &step).await;
        // A step that is written already releases nothing.
        let released = self.backing.steps.release(&lease).await;
        written.and(released)
    }

    /// Waits for the lease of a thread.
    async fn lease(&self, key: &ThreadKey) -> Result<Lease, StoreError> {
        let owner = RunId::random();
        let request = self.backing.keeper.request(key, owner)?;
        loop {
            match self.backing.steps.acquire(key, owner).await? {
                Acquired::Granted { lease, .. } => {
                    request.granted();
                    return Ok(lease);
                }
                Acquired::Busy => self.backing.steps.freed(key).await,
            }
        }
    }

    /// Removes a thread from the store. Returns whether there was one.
    pub(crate) async fn forget(&self, thread: &str) -> Result<bool, StoreError> {
        ThreadKey::new(self.agent.clone(), thread)?;
        let filter = Filter::agent(self.agent.clone()).thread(thread);
        Ok(self.backing.store.forget(filter).await? > 0)
    }
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("store", &self.backing.store).finish_non_exhaustive()
    }
}
