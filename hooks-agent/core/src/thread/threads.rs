//! The conversations of an agent, by thread.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::CallContext;
use crate::error::InputError;
use crate::memory::{FindMemory, Memory};
use crate::message::Messages;
use crate::store::now;
use crate::store::{Ledger, StoreError};
use crate::thread::durable::Durable;
use crate::thread::turns::Turns;

/// The conversations of an agent: one memory for each thread. [`ReActAgent::threads`] returns them.
///
/// A thread begins with the first call on it. The agent keeps at most
/// [`max_idle_threads`](crate::react::ReActAgentBuilder::max_idle_threads): beyond that, it forgets
/// threads that were not used for the longest time. It never forgets the default thread, a thread
/// with a running or queued call, or one whose tool calls wait for a result.
///
/// With a [store](crate::react::ReActAgentBuilder::store) outside of the process, these are the threads
/// that the process has read, as they were then; [`Store::threads`](crate::store::Store::threads) lists
/// all. A thread that is forgotten here is read again.
///
/// [`ReActAgent::threads`]: crate::react::ReActAgent::threads
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("counter", |request| request.messages.len().to_string());
/// let model = Arc::new(model);
/// let agent = ReActAgent::builder("assistant").model(model.clone()).build()?;
/// agent.call_with(CallOptions::new().thread("ada"), "Hello").await?;
/// assert_eq!(agent.threads().ids().as_slice(), ["ada".into()]);
///
/// // Another process goes on with the conversation.
/// let saved = serde_json::to_string(&agent.threads().history("ada").await?)?;
/// let later = ReActAgent::builder("assistant").model(model).build()?;
/// later.threads().restore("ada", serde_json::from_str::<Messages>(&saved)?)?;
/// let reply = later.call_with(CallOptions::new().thread("ada"), "And now?").await?;
/// assert_eq!(reply.text(), "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Threads {
    turns: Turns,
    durable: Option<Durable>,
    is_shared: bool,
    /// The memory of the default thread; most agents have no other.
    default: Arc<Memory>,
    named: Mutex<Named>,
    max_idle: usize,
    /// What is used of quotas, if it is counted in the process.
    ledger: Option<Arc<Ledger>>,
}

#[derive(Default)]
struct Named {
    threads: HashMap<Arc<str>, Thread>,
    /// How many times a thread was used.
    uses: u64,
}

struct Thread {
    memory: Arc<Memory>,
    /// The number of the last use.
    used: u64,
}

impl Threads {
    /// The default limit of idle threads.
    pub(crate) const DEFAULT_MAX_IDLE: usize = 100_000;

    pub(crate) fn new(max_idle: usize) -> Self {
        Self {
            turns: Turns::default(),
            durable: None,
            is_shared: false,
            default: Arc::default(),
            named: Mutex::default(),
            max_idle,
            ledger: Some(Arc::default()),
        }
    }

    /// Creates the threads of an agent that are in a store outside of the process.
    pub(crate) fn durable(max_idle: usize, durable: Durable) -> Self {
        Self { durable: Some(durable), ledger: None, ..Self::new(max_idle) }
    }

    /// Returns the queues of calls.
    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Returns how the threads are stored, if they are in a store outside of the process.
    pub(crate) fn stored(&self) -> Option<&Durable> {
        self.durable.as_ref()
    }

    /// Returns whether other agents of the same name may have the same threads.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared || self.durable.is_some()
    }

    /// Marks the threads as those of every agent of the name, which counts quotas there.
    pub(super) fn shared(self, ledger: &Arc<Ledger>) -> Self {
        Self { is_shared: true, ledger: Some(ledger.clone()), ..self }
    }

    /// Returns where quotas are counted, if it is in the process.
    pub(crate) fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    /// Stores what people decided about the tool calls of a thread in memory.
    pub(crate) fn decide(&self, cx: &CallContext) -> Result<(), StoreError> {
        let (memory, now) = (self.of_call(cx.named_thread()), now());
        let remembered = memory.decide(&memory.by_call(&cx.verdicts()), now)?;
        match &self.ledger {
            Some(ledger) => ledger.approvals.add(remembered),
            None if remembered.is_empty() => {}
            None => return Err(StoreError::NoApprovals),
        }
        Ok(())
    }

    /// Returns all threads, by id.
    pub(crate) fn memories(&self) -> Vec<(Arc<str>, Arc<Memory>)> {
        let default = (CallContext::DEFAULT_THREAD.into(), self.default.clone());
        let named = self.lock();
        let named = named.threads.iter().map(|(id, thread)| (id.clone(), thread.memory.clone()));
        named.chain([default]).collect()
    }

    /// Returns the ids of the threads, in no order: the default one if it has messages, and each
    /// named one that was used and not forgotten.
    #[must_use]
    pub fn ids(&self) -> Vec<Arc<str>> {
        let default = (!self.default.is_empty()).then(|| CallContext::DEFAULT_THREAD.into());
        self.lock().threads.keys().cloned().chain(default).collect()
    }

    /// Returns the memory of a thread, or `None` if the process has no such thread: one in a store outside
    /// of it is read by [`history`](Self::history), or by
    /// [`ReActAgent::read_thread`](crate::react::ReActAgent::read_thread).
    #[must_use]
    pub fn memory(&self, id: &str) -> Option<Arc<Memory>> {
        if id == CallContext::DEFAULT_THREAD {
            return Some(self.default.clone());
        }
        Some(self.lock().threads.get(id)?.memory.clone())
    }

    /// Returns the messages of a thread, oldest first; none if there is no such thread. They are those of
    /// the store, if there is one outside of the process, whether or not the process has read the thread.
    ///
    /// # Errors
    /// [`StoreError`] of a store outside of the process.
    pub async fn history(&self, id: &str) -> Result<Messages, StoreError> {
        match &self.durable {
            Some(durable) => durable.history(id).await,
            None => Ok(self.memory(id).map(|memory| memory.messages()).unwrap_or_default()),
        }
    }

    /// Replaces the conversation of a thread, or begins it. A call that runs on a named thread
    /// continues with the conversation that it began with; one on the default thread, with the new
    /// one, without results of earlier tool calls.
    ///
    /// The [values](Memory::values) of a thread that there is already stay; those of another process
    /// are set by [`Memory::set_values`].
    ///
    /// Tool calls of the last answer may lack a result: they wait, as after a call that was stopped.
    ///
    /// # Errors
    /// [`InputError`] if the messages are no valid history: an older tool call lacks its result, or a
    /// result its tool call, or a message is a system message. [`InputError::InStore`] if the threads are
    /// in a store outside of the process. The conversation is then unchanged.
    pub fn restore(&self, id: &str, messages: impl Into<Messages>) -> Result<(), InputError> {
        self.restore_messages(id, None, messages.into())
    }

    /// Replaces the conversation of a thread like [`restore`](Self::restore), and makes it one of a
    /// [user](crate::call::CallOptions::user): a thread that was begun without one stays without one.
    ///
    /// # Errors
    /// As of [`restore`](Self::restore).
    pub fn restore_of(
        &self,
        id: &str,
        user: impl Into<Arc<str>>,
        messages: impl Into<Messages>,
    ) -> Result<(), InputError> {
        self.restore_messages(id, Some(user.into()), messages.into())
    }

    fn restore_messages(
        &self,
        id: &str,
        user: Option<Arc<str>>,
        messages: Messages,
    ) -> Result<(), InputError> {
        if self.durable.is_some() {
            return Err(InputError::InStore { thread: id.to_owned() });
        }
        InputError::check_history(&messages)?;
        if id == CallContext::DEFAULT_THREAD {
            self.default.replace(messages);
            if user.is_some() {
                self.default.set_user(user);
            }
            return Ok(());
        }
        let memory = Arc::new(Memory::new());
        memory.replace(messages);
        memory.set_user(user.clone());
        let mut named = self.lock();
        if let Some(before) = named.threads.get(id) {
            memory.set_values(before.memory.values());
            memory.take_inbox_of(&before.memory);
            memory.set_user(user.or_else(|| before.memory.user()));
        }
        named.insert(id.into(), memory.clone(), self.max_idle);
        Ok(())
    }

    /// Forgets a thread and returns whether there was one; the default thread is emptied. A call that
    /// runs on a named thread continues with its memory, one on the default thread without earlier
    /// messages.
    ///
    /// A thread in a store outside of the process stays there, and the next call reads it again; one on
    /// which a call runs is not dropped:
    /// [`ReActAgent::forget`](crate::react::ReActAgent::forget) removes it.
    pub fn forget(&self, id: &str) -> bool {
        self.drop_thread(id)
    }

    /// Drops the memory of a thread.
    pub(crate) fn drop_thread(&self, id: &str) -> bool {
        // What its call does from here on is written from the same memory.
        if self.durable.as_ref().is_some_and(|durable| durable.runs_on(id)) {
            return false;
        }
        if id == CallContext::DEFAULT_THREAD {
            let is_used = !self.default.is_empty();
            self.default.clear();
            self.default.set_values(serde_json::Map::new());
            self.default.set_user(None);
            self.default.begin_anew();
            self.default.expire_record();
            return is_used;
        }
        self.lock().threads.remove(id).is_some()
    }

    /// Returns the memory of the thread of a call and creates it if there is none.
    pub(crate) fn of_call(&self, thread: Option<&Arc<str>>) -> Arc<Memory> {
        let Some(id) = thread else { return self.default.clone() };
        let mut named = self.lock();
        if let Some(memory) = named.used(id) {
            return memory;
        }
        let memory = Arc::new(Memory::new());
        named.insert(id.clone(), memory.clone(), self.max_idle);
        memory
    }

    pub(crate) fn unnamed(&self) -> &Memory {
        &self.default
    }

    fn lock(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FindMemory for Threads {
    fn memory_of(&self, thread: Option<&Arc<str>>) -> Arc<Memory> {
        self.of_call(thread)
    }
}

/// The number of threads, and nothing of what was said.
impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.lock().threads.len();
        f.debug_struct("Threads").field("named", &named).finish_non_exhaustive()
    }
}

impl Named {
    /// Returns the memory of a thread, which is used now.
    fn used(&mut self, id: &str) -> Option<Arc<Memory>> {
        self.uses += 1;
        let thread = self.threads.get_mut(id)?;
        thread.used = self.uses;
        Some(thread.memory.clone())
    }

    /// Adds a thread, which is used now, and forgets others if they are too many.
    fn insert(&mut self, id: Arc<str>, memory: Arc<Memory>, max_idle: usize) {
        self.uses += 1;
        self.threads.insert(id, Thread { memory, used: self.uses });
        if self.threads.len() > max_idle {
            self.forget_unused(max_idle);
        }
    }

    /// Forgets threads that are idle, the longest unused first. It forgets an eighth more than it must,
    /// because it looks at all threads.
    fn forget_unused(&mut self, max_idle: usize) {
        let is_kept = |memory: &Memory| match memory.version() {
            None => memory.is_waiting(),
            // The store has it, unless the last step could not be written.
            Some(_) => memory.step().is_some(),
        };
        let is_idle =
            |thread: &Thread| Arc::strong_count(&thread.memory) == 1 && !is_kept(&thread.memory);
        let idle = self.threads.values().filter(|thread| is_idle(thread));
        let mut uses: Vec<_> = idle.map(|thread| thread.used).collect();
        // The new thread is about to be idle, too.
        let excess = (uses.len() + 1).saturating_sub(max_idle).min(uses.len());
        if excess == 0 {
            return;
        }
        let count = (excess + max_idle / 8).min(uses.len());
        let (_, last, _) = uses.select_nth_unstable(count - 1);
        let last = *last;
        self.threads.retain(|_, thread| thread.used > last || !is_idle(thread));
    }
}
