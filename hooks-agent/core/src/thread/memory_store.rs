//! The store of one process.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::call::CallContext;
use crate::identity::User;
use crate::memory::Memory;
use crate::message::Msg;
use crate::store::now;
use crate::store::{
    Approval, Backend, Claim, DecisionError, Filter, HistoryRow, Ledger, NameError, QuotaUse,
    Reservation, Steered, Store, StoreError, StoreFuture, ThreadInfo, ThreadKey, Verdict, Waiting,
    Window, check_name,
};
use crate::thread::threads::Threads;

/// The store of one process: threads live in its memory, and end with it. Clones share the threads.
///
/// An agent without a store has one of its own. Agents of the same name on one store are one agent:
/// they share the threads and the queues of their calls. Nothing is serialized and calls cost what
/// they cost without a store. Of messages that are replaced no history is kept: an import leaves them
/// out.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::store::{Filter, Store};
/// use hooks_agent::thread::MemoryStore;
///
/// # futures::executor::block_on(async {
/// let store = MemoryStore::new();
/// let build = || {
///     let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
///     ReActAgent::builder("clerk").model(model).store(store.clone()).build()
/// };
/// assert_eq!(build()?.call("Hello").await?.text(), "1");
/// assert_eq!(build()?.call("Hello again").await?.text(), "3");
/// assert_eq!(store.threads(Filter::agent("clerk")).await?[0].messages, 4);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    agents: Arc<Mutex<Agents>>,
    ledgers: Arc<Mutex<Ledgers>>,
    namespace: Option<Arc<str>>,
}

/// The threads of agents, by namespace and name.
type Agents = HashMap<(Option<Arc<str>>, Arc<str>), Arc<Threads>>;

/// What is used of quotas, by namespace.
type Ledgers = HashMap<Option<Arc<str>>, Arc<Ledger>>;

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same store, for another namespace.
    ///
    /// # Errors
    /// [`NameError`] if the name is empty, longer than 512 bytes, or has a NUL character.
    pub fn namespace(&self, name: impl Into<Arc<str>>) -> Result<Self, NameError> {
        let name = name.into();
        check_name("name of the namespace", &name)?;
        Ok(Self { namespace: Some(name), ..self.clone() })
    }

    /// Creates the store of the threads of one agent.
    pub(crate) fn of(agent: &Arc<str>, threads: &Arc<Threads>) -> Self {
        let agents = HashMap::from([((None, agent.clone()), threads.clone())]);
        let ledgers = threads.ledger().map(|ledger| (None, ledger.clone())).into_iter().collect();
        Self {
            agents: Arc::new(Mutex::new(agents)),
            ledgers: Arc::new(Mutex::new(ledgers)),
            namespace: None,
        }
    }

    /// Returns the threads of an agent.
    pub(crate) fn threads_of(&self, agent: &Arc<str>, max_idle: usize) -> Arc<Threads> {
        let key = (self.namespace.clone(), agent.clone());
        let threads = || Arc::new(Threads::new(max_idle).shared(&self.ledger()));
        self.lock().entry(key).or_insert_with(threads).clone()
    }

    /// Returns what is used of quotas.
    fn ledger(&self) -> Arc<Ledger> {
        let mut ledgers = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        ledgers.entry(self.namespace.clone()).or_default().clone()
    }

    /// Returns the threads that a filter means, by name.
    fn find(&self, filter: &Filter) -> Vec<(ThreadKey, Arc<Threads>, Arc<Memory>)> {
        // Threads in memory have no time of use, and end with the process that cuts them off.
        if filter.unused_for.is_some() || filter.is_cut_off {
            return Vec::new();
        }
        let agents: Vec<_> = self
            .lock()
            .iter()
            .filter(|((namespace, agent), _)| {
                *namespace == self.namespace
                    && filter.agent.as_ref().is_none_or(|wanted| wanted == agent)
            })
            .map(|((_, agent), threads)| (agent.clone(), threads.clone()))
            .collect();
        let mut found = Vec::new();
        for (agent, threads) in agents {
            for (id, memory) in threads.memories() {
                let is_wanted = filter.thread.as_ref().is_none_or(|wanted| *wanted == id);
                let is_of_user =
                    filter.user.is_none() || filter.user.as_ref() == memory.user().as_ref();
                if !is_wanted || !is_of_user || memory.is_unused() {
                    continue;
                }
                if let Ok(key) = ThreadKey::new(agent.clone(), id) {
                    found.push((key, threads.clone(), memory));
                }
            }
        }
        found.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        if let Some(after) = &filter.after_thread {
            found.retain(|(key, ..)| key > after);
        }
        found
    }

    fn memory(&self, thread: &ThreadKey) -> Option<Arc<Memory>> {
        let filter = Filter::agent(thread.agent()).thread(thread.thread());
        self.find(&filter).pop().map(|(.., memory)| memory)
    }

    /// Returns a thread with those of its sub-agents, and of theirs; those that there are.
    fn with_sub_threads(&self, key: ThreadKey) -> Vec<(ThreadKey, Arc<Threads>)> {
        let (mut seen, mut all) = (vec![key], Vec::new());
        let mut next = 0;
        while let Some(key) = seen.get(next).cloned() {
            next += 1;
            let filter = Filter::agent(key.agent()).thread(key.thread());
            for (key, threads, memory) in self.find(&filter) {
                for below in memory.sub_threads() {
                    if !seen.contains(&below) {
                        seen.push(below);
                    }
                }
                all.push((key, threads));
            }
        }
        all
    }

    fn decide_now(&self, verdicts: &[Verdict]) -> Result<(), DecisionError> {
        let now = now();
        let memories = self.find(&Filter::all());
        let mut parts: Vec<(Arc<Memory>, Vec<Verdict>)> = Vec::new();
        for verdict in verdicts {
            let of = memories.iter().find(|(.., memory)| memory.has_question(&verdict.id));
            let Some((.., memory)) = of else {
                return Err(DecisionError::Unknown { id: verdict.id.clone() });
            };
            match parts.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
                Some((_, part)) => part.push(verdict.clone()),
                None => parts.push((memory.clone(), vec![verdict.clone()])),
            }
        }
        let _deciding = self.lock();
        let parts: Vec<_> = parts.iter().map(|(memory, part)| (&**memory, &**part)).collect();
        self.ledger().approvals.add(Memory::decide_all(&parts, now)?);
        Ok(())
    }

    fn recall_now(&self, ids: &[Arc<str>]) -> Vec<Waiting> {
        let (ledger, now) = (self.ledger(), now());
        let memories = self.find(&Filter::all());
        memories
            .iter()
            .flat_map(|(.., memory)| memory.recall(ids, &ledger.approvals, now))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Agents> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn backend(&self) -> Backend {
        Backend::InProcess(Arc::new(self.clone()))
    }

    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
        let is_after = |it: &Waiting| match &filter.after_question {
            Some((since, id)) => (it.since, &it.id) > (*since, id),
            None => true,
        };
        let is_wanted = |it: &Waiting| filter.is_decided == it.decided.is_some() && is_after(it);
        let found = self.find(&filter);
        let questions = found.iter().flat_map(|(.., memory)| memory.questions());
        let mut questions: Vec<_> = questions.filter(is_wanted).collect();
        questions.sort_by(|one, other| (one.since, &one.id).cmp(&(other.since, &other.id)));
        questions.truncate(most(&filter));
        Box::pin(ready(Ok(questions)))
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        Box::pin(ready(self.decide_now(&verdicts).map_err(StoreError::from)))
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        let (found, now) = (self.find(&Filter::all()), now());
        let count = found.iter().map(|(.., memory)| memory.expire_questions(now)).sum();
        Box::pin(ready(Ok(count)))
    }

    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
        let infos = self.find(&filter).into_iter().map(|(key, _, memory)| {
            let questions = memory.questions();
            let waiting = questions.iter().filter(|question| question.decided.is_none()).count();
            ThreadInfo {
                messages: memory.messages().len() as u64,
                waiting: waiting as u64,
                user: memory.user(),
                ..ThreadInfo::new(key)
            }
        });
        Box::pin(ready(Ok(infos.take(most(&filter)).collect())))
    }

    fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
        let messages = self.memory(thread).map(|memory| memory.messages()).unwrap_or_default();
        let rows = (0..).zip(&messages).map(|(seq, msg)| {
            let body =
                serde_json::to_value(msg).map_err(|error| StoreError::Failed(error.into()))?;
            Ok(HistoryRow::new(seq, seq, None, body))
        });
        Box::pin(ready(rows.collect()))
    }

    fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
        let values = self.memory(thread).map(|memory| memory.values()).unwrap_or_default();
        Box::pin(ready(Ok(values)))
    }

    fn import<'a>(
        &'a self,
        thread: &'a ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> StoreFuture<'a, ()> {
        Box::pin(ready(self.import_now(thread, rows, values, user)))
    }

    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
        let wanted = self.find(&filter).into_iter().map(|(key, ..)| self.with_sub_threads(key));
        let is_busy =
            |(key, threads): &(ThreadKey, Arc<Threads>)| threads.turns().is_busy(key.thread());
        let free = wanted.filter(|all| !all.iter().any(is_busy));
        let (mut count, mut gone) = (0, HashSet::new());
        // A thread that was one of a sub-agent is gone when its turn comes.
        for (key, threads) in free.filter(|all| !all.is_empty()).take(most(&filter)).flatten() {
            threads.drop_thread(key.thread());
            gone.insert(key);
            count += 1;
        }
        self.ledger().approvals.forget(&filter, &gone);
        Box::pin(ready(Ok(count)))
    }

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        // No history is kept.
        let (mut count, ledger) = (0, self.ledger());
        if filter.is_of_namespace() {
            count += ledger.prune(now()) + ledger.approvals.prune(now());
        }
        Box::pin(ready(Ok(count)))
    }

    fn steer<'a>(
        &'a self,
        thread: &'a ThreadKey,
        claim: &'a Claim,
        _: Arc<str>,
        message: Msg,
    ) -> StoreFuture<'a, Steered> {
        Box::pin(ready(self.steer_now(thread, claim, message)))
    }

    fn approvals(&self, filter: Filter) -> StoreFuture<'_, Vec<Approval>> {
        Box::pin(ready(Ok(self.ledger().approvals.list(&filter, now()))))
    }

    fn recall(&self, questions: Vec<Arc<str>>) -> StoreFuture<'_, Vec<Waiting>> {
        Box::pin(ready(Ok(self.recall_now(&questions))))
    }

    fn revoke<'a>(&'a self, id: &'a str, by: &'a User) -> StoreFuture<'a, bool> {
        Box::pin(ready(Ok(self.ledger().approvals.revoke(id, &by.shared_id(), now()))))
    }

    fn reserve(&self, reservations: Vec<Reservation>) -> StoreFuture<'_, Vec<Reservation>> {
        let reserved = self.ledger().reserve(&reservations, now());
        Box::pin(ready(reserved.map_err(StoreError::from)))
    }

    fn settle(&self, used: Vec<Reservation>) -> StoreFuture<'_, ()> {
        self.ledger().settle(&used);
        Box::pin(ready(Ok(())))
    }

    fn quota_uses<'a>(
        &'a self,
        quota: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Vec<QuotaUse>> {
        Box::pin(ready(Ok(self.ledger().uses(quota, window, now()))))
    }
}

impl MemoryStore {
    fn steer_now(
        &self,
        thread: &ThreadKey,
        claim: &Claim,
        message: Msg,
    ) -> Result<Steered, StoreError> {
        let filter = Filter::agent(thread.agent()).thread(thread.thread());
        let Some((_, threads, memory)) = self.find(&filter).pop() else {
            return Err(StoreError::UnknownThread(thread.clone()));
        };
        if !memory.allows(claim) {
            return Err(StoreError::OtherUser { thread: thread.clone() });
        }
        memory.steer(message.into(), claim.user.clone());
        let is_busy = threads.turns().is_busy(thread.thread());
        Ok(if is_busy { Steered::Running } else { Steered::Waiting })
    }

    fn import_now(
        &self,
        thread: &ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> Result<(), StoreError> {
        let agent: Arc<str> = thread.agent().into();
        let threads = self.threads_of(&agent, Threads::DEFAULT_MAX_IDLE);
        let id: Arc<str> = thread.thread().into();
        let memory = threads.of_call((*id != *CallContext::DEFAULT_THREAD).then_some(&id));
        if !memory.is_unused() {
            return Err(StoreError::Conflict { thread: thread.clone(), expected: 0, found: 1 });
        }
        memory.replace(HistoryRow::read_live(rows, thread)?);
        memory.set_values(values);
        memory.set_user(user);
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

fn most(filter: &Filter) -> usize {
    filter.limit.map_or(usize::MAX, |limit| limit as usize)
}
