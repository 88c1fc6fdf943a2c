//! The threads of an agent in a store outside of the process.

use std::fmt;
use std::sync::Arc;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::identity::Users;
use crate::memory::{Memory, Running};
use crate::message::Messages;
use crate::run_id::RunId;
use crate::store::{
    Acquired, Claim, DecisionError, Filter, HistoryRow, Lease, Step, Steps, Store, StoreError,
    ThreadKey, ThreadRecord, Unknown, Verdict, by_call, check_name,
};
use crate::stream::Behind;
use crate::thread::keeper::{Keeper, Request};
use crate::thread::leased;
use crate::thread::options::StoreOptions;
use crate::thread::session::{Backing, OpenSession};

/// How the threads of an agent are stored.
pub(crate) struct Durable {
    backing: Backing,
    agent: Arc<str>,
    pub(crate) unknown: Unknown,
    max_cut_offs: u32,
}

/// A lease that was granted, of a thread that the call may use.
struct Granted {
    lease: Lease,
    version: u64,
    /// The user of the thread.
    owner: Option<Arc<str>>,
}

impl Durable {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        steps: Arc<dyn Steps>,
        agent: Arc<str>,
        options: StoreOptions,
    ) -> Self {
        let StoreOptions { durability, unknown, max_cut_offs } = options;
        let keeper = Arc::new(Keeper::new(steps.clone()));
        let backing = Backing { store, steps, keeper, durability };
        Self { backing, agent, unknown, max_cut_offs }
    }

    /// Begins a call on a thread: stores its decisions, waits for the lease, and brings memory up to
    /// date.
    pub(crate) async fn begin(
        &self,
        cx: &CallContext,
        memory: Arc<Memory>,
        has_input: bool,
        users: Option<&Users>,
    ) -> Result<OpenSession, AgentError> {
        if let Some(user) = cx.user() {
            check_name("id of the user", user).map_err(StoreError::from)?;
        }
        if cx.has_verdicts() {
            self.decide(cx, &cx.verdicts(), has_input).await?;
        }
        let (session, cut_off) = in_time(cx, self.open(cx, memory, has_input, users)).await?;
        if let Some(cut_off) = cut_off {
            session.set_aside(&cut_off).await?;
            return Err(AgentError::SetAside {
                agent: cx.agent_name().to_owned(),
                thread: cx.thread_id().to_owned(),
                times: cut_off.cut_offs,
            });
        }
        session.count().await?;
        cx.set_saver(session.shared());
        cx.join_caller().await?;
        Ok(session)
    }

    /// Stores decisions about tool calls of the thread, and of no other.
    async fn decide(
        &self,
        cx: &CallContext,
        verdicts: &[Verdict],
        has_input: bool,
    ) -> Result<(), StoreError> {
        let of_thread = Filter::agent(self.agent.clone()).thread(cx.thread_id());
        // Decisions are stored before the call waits for the lease, which is granted with this check.
        for info in self.backing.store.threads(of_thread.clone()).await? {
            if !cx.claim(has_input).allows(info.user.as_deref(), false) {
                return Err(StoreError::OtherUser { thread: info.key });
            }
        }
        let own = self.backing.store.waiting(of_thread).await?;
        let verdicts = by_call(&own, verdicts);
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
        self.backing.store.decide(verdicts).await
    }

    /// Waits for the lease of a thread and brings memory up to date. Returns the call that was cut off
    /// too often, if there is one.
    async fn open(
        &self,
        cx: &CallContext,
        memory: Arc<Memory>,
        has_input: bool,
        users: Option<&Users>,
    ) -> Result<(OpenSession, Option<Running>), AgentError> {
        let session = self.session(cx, memory.clone(), has_input).await?;
        // Of a call that names no user, it is that of the thread. Who is not found changes nothing: a call that
        // was cut off stays one.
        if let Err(error) = cx.identify(users, memory.user()).await {
            session.leave().await?;
            return Err(error);
        }
        if let Err(error) = cx.check_unfinished(&memory) {
            session.close().await?;
            return Err(error.into());
        }
        let through = cx.through().cloned();
        let running =
            Running { run: cx.run_id(), through, cut_offs: 0, since: None, is_left: false };
        let cut_off = session.start(running, self.max_cut_offs);
        Ok((session, cut_off))
    }

    /// Waits for the lease of the thread of a call and brings memory up to date.
    pub(super) async fn session(
        &self,
        cx: &CallContext,
        memory: Arc<Memory>,
        has_input: bool,
    ) -> Result<OpenSession, AgentError> {
        let key = ThreadKey::new(self.agent.clone(), cx.thread_id()).map_err(StoreError::from)?;
        let claim = cx.claim(has_input);
        let Granted { lease, version, owner } = self.wait(&key, &claim, cx).await?;
        let user = claim.user.filter(|user| owner.as_ref() != Some(user));
        let session = OpenSession::new(&self.backing, lease, memory.clone(), user.clone(), cx)?;
        session.refresh(version).await?;
        memory.set_user(user.or(owner));
        Ok(session)
    }

    /// Waits for the lease of a thread for a call, which says so once.
    async fn wait(
        &self,
        key: &ThreadKey,
        claim: &Claim,
        cx: &CallContext,
    ) -> Result<Granted, AgentError> {
        let mut request = self.backing.keeper.request(key, cx.run_id())?;
        let mut is_told = false;
        loop {
            if let Some(granted) = self.ask(key, claim, &mut request).await? {
                return Ok(granted);
            }
            let lines = leased::behind(key);
            let _waits = leased::wait(cx, &lines)?;
            if !is_told {
                is_told = true;
                cx.queued(Behind::Lease(self.backing.steps.lease_time()));
            }
            self.backing.steps.freed(key).await;
        }
    }

    /// Waits for the lease of a thread for what is no call.
    async fn acquire(&self, key: &ThreadKey) -> Result<Granted, StoreError> {
        let mut request = self.backing.keeper.request(key, RunId::random())?;
        loop {
            // Whose thread it is, is checked by the caller.
            if let Some(granted) = self.ask(key, &Claim::anybody(), &mut request).await? {
                return Ok(granted);
            }
            self.backing.steps.freed(key).await;
        }
    }

    /// Asks for the lease of a thread that the caller may use. Returns none if another has it.
    async fn ask(
        &self,
        key: &ThreadKey,
        claim: &Claim,
        request: &mut Request,
    ) -> Result<Option<Granted>, StoreError> {
        match self.backing.steps.acquire(key, request.owner(), claim).await? {
            Acquired::OtherUser => Err(StoreError::OtherUser { thread: key.clone() }),
            Acquired::Granted { lease, version, is_takeover, user } => {
                if is_takeover {
                    tracing::warn!(
                        target: "hooks_agent::thread",
                        agent = key.agent(),
                        thread = key.thread(),
                        "a call takes over a thread whose owner ended without releasing it"
                    );
                }
                request.granted();
                Ok(Some(Granted { lease, version, owner: user }))
            }
            Acquired::Busy => Ok(None),
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
        let mut request = self.backing.keeper.request(&key, cx.run_id())?;
        let Acquired::Granted { lease, version, user, .. } =
            self.backing.steps.acquire(&key, cx.run_id(), &Claim::anybody()).await?
        else {
            return Ok(());
        };
        request.granted();
        let session = OpenSession::new(&self.backing, lease, memory.clone(), None, cx)?;
        session.refresh(version).await?;
        memory.set_user(user);
        session.close().await
    }

    /// Returns the messages of a thread as the store has them.
    pub(crate) async fn history(&self, thread: &str) -> Result<Messages, StoreError> {
        let key = ThreadKey::new(self.agent.clone(), thread)?;
        HistoryRow::read_live(self.backing.store.history(&key).await?, &key)
    }

    /// Waits until the leases of calls that were dropped are released.
    pub(crate) async fn released(&self) {
        self.backing.keeper.done().await;
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
    ) -> Result<(), AgentError> {
        let key = ThreadKey::new(self.agent.clone(), cx.thread_id()).map_err(StoreError::from)?;
        if self.backing.keeper.holds(&key) {
            // The call that runs writes them.
            cx.claim_thread(memory, true)?;
            memory.extend(messages);
            return Ok(());
        }
        let session = self.session(cx, memory.clone(), true).await?;
        memory.extend(messages);
        Ok(session.close().await?)
    }

    /// Reads a thread, when no call owns it. Whose it is must be checked.
    pub(crate) async fn read(&self, key: &ThreadKey) -> Result<ThreadRecord, StoreError> {
        let Granted { lease, owner, .. } = self.acquire(key).await?;
        let record = self.backing.steps.load(&lease).await;
        self.release(&lease).await?;
        Ok(ThreadRecord { user: owner, ..record? })
    }

    /// Writes a step, when no call owns the thread; one that is written already is not written again.
    pub(crate) async fn write(&self, key: &ThreadKey, step: &Step) -> Result<(), StoreError> {
        // Whose thread it is was checked when it was read.
        let Granted { lease, .. } = self.acquire(key).await?;
        let step = Step { releases: true, ..step.clone() };
        let written = self.backing.steps.commit(&lease, &step).await;
        // A step that is written already releases nothing.
        let released = self.release(&lease).await;
        written.and(released)
    }

    /// Releases a lease; if that fails, again and again until its time is over.
    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let released = self.backing.steps.release(lease).await;
        if released.is_err() {
            self.backing.keeper.release(lease);
        }
        released
    }

    /// Removes a thread from the store. Returns whether there was one.
    pub(crate) async fn forget(&self, thread: &str) -> Result<bool, StoreError> {
        ThreadKey::new(self.agent.clone(), thread)?;
        let filter = Filter::agent(self.agent.clone()).thread(thread);
        Ok(self.backing.store.forget(filter).await? > 0)
    }
}

/// Waits for the lease of a thread, not longer than the call may.
pub(super) async fn in_time<T>(
    cx: &CallContext,
    open: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let Some(after) = cx.queue_timeout() else { return open.await };
    let opened = tokio::time::timeout(after, open).await;
    opened.map_err(|_| AgentError::QueueTimeout {
        agent: cx.agent_name().to_owned(),
        thread: cx.thread_id().to_owned(),
        after,
    })?
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("store", &self.backing.store).finish_non_exhaustive()
    }
}
