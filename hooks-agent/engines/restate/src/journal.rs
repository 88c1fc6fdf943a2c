//! The state of a call, which its agent and its driver share.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::pending;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalError, JournalFuture, JournalStep, StepKey, StepRecord, Ticket,
};
use hooks_agent_core::store::{ThreadKey, ThreadRecord, Verdict, Waiting};
use tokio::sync::{Notify, oneshot};

use crate::history::History;
use crate::limits::Limits;
use crate::log::Entry;

/// The journal of a call. The agent puts in what the driver writes to the log.
#[derive(Clone)]
pub(crate) struct EngineJournal(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// There is something to write, or the log was read.
    changed: Notify,
    history: History,
    limits: Limits,
    interrupt: Interrupt,
}

#[derive(Default)]
struct State {
    records: HashMap<String, StepRecord>,
    /// What the log has and this run has not come to.
    ahead: HashSet<String>,
    /// The last answer of the agent's own model, if it is an error that may pass.
    failed: Option<String>,
    /// What people decided, by question.
    decided: HashMap<Arc<str>, Verdict>,
    bytes: usize,
    entries: usize,
    /// What is to be written.
    orders: VecDeque<Order>,
    /// The call is to be interrupted, or is.
    is_interrupted: bool,
    is_closed: bool,
}

/// What the agent wants to be written.
pub(crate) enum Order {
    Step { key: String, record: StepRecord, bytes: usize, kept: Kept },
    Ask { questions: Vec<Waiting>, decided: Kept },
    End { end: Box<CallEnd>, kept: Kept },
}

/// Who waits until something is written.
pub(crate) type Kept = oneshot::Sender<()>;

impl EngineJournal {
    pub(crate) fn new(history: History, limits: Limits) -> Self {
        let (state, changed, interrupt) = (Mutex::default(), Notify::new(), Interrupt::new());
        Self(Arc::new(Shared { state, changed, history, limits, interrupt }))
    }

    /// Returns what interrupts the agent.
    pub(crate) fn interrupter(&self) -> Interrupt {
        self.0.interrupt.clone()
    }

    /// Interrupts the agent once it has replayed the log. Earlier, the recorded steps would be missing in
    /// the history.
    pub(crate) fn interrupt(&self) {
        let mut state = self.lock();
        state.is_interrupted = true;
        self.interrupt_if_caught_up(&state);
    }

    /// Interrupts the agent, wherever it is.
    pub(crate) fn interrupt_now(&self) {
        self.0.interrupt.interrupt();
    }

    /// Returns whether the call is to be interrupted, or is.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.lock().is_interrupted
    }

    /// Returns whether the call is to be interrupted and the agent is not.
    pub(crate) fn is_interrupt_due(&self) -> bool {
        self.is_interrupted() && !self.0.interrupt.is_interrupted()
    }

    fn interrupt_if_caught_up(&self, state: &State) {
        if state.ahead.is_empty() {
            self.0.interrupt.interrupt();
        }
    }

    pub(crate) fn history(&self) -> &History {
        &self.0.history
    }

    /// Takes an entry of the log, and counts it.
    pub(crate) fn read(&self, entry: &Entry, bytes: usize) {
        let mut state = self.lock();
        state.entries += usize::from(!matches!(entry, Entry::Beat));
        state.bytes += bytes;
        match entry {
            Entry::Steps(steps) => {
                for (key, record) in steps {
                    if key.starts_with("model/") {
                        state.failed = record.is_transient().then(|| key.clone());
                    }
                    state.records.insert(key.clone(), record.clone());
                    state.ahead.insert(key.clone());
                }
            }
            // The call failed with what may pass: it is tried again.
            Entry::Retry { .. } => {
                if let Some(key) = state.failed.take() {
                    state.records.remove(&key);
                    state.ahead.remove(&key);
                }
            }
            _ => {}
        }
    }

    /// Notes a decision, which the agent asks for when it comes to the question.
    pub(crate) fn decided(&self, verdict: Verdict) {
        let mut state = self.lock();
        state.ahead.insert(verdict.id.to_string());
        state.decided.insert(verdict.id.clone(), verdict);
    }

    /// Counts an entry that is written, without what of it was counted before.
    pub(crate) fn wrote(&self, bytes: usize) {
        let mut state = self.lock();
        state.entries += 1;
        state.bytes += bytes;
    }

    /// Takes the next thing to write.
    pub(crate) fn next_order(&self) -> Option<Order> {
        self.lock().orders.pop_front()
    }

    /// Takes the next step that is to be written, if it is next and fits into an entry of this size.
    pub(crate) fn next_step(&self, written: usize) -> Option<Order> {
        let most = self.0.limits.step_bytes.saturating_sub(written);
        self.lock()
            .orders
            .pop_front_if(|order| matches!(order, Order::Step { bytes, .. } if *bytes <= most))
    }

    /// Waits until there is something to write.
    pub(crate) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Adds something to write.
    pub(crate) fn order(&self, order: Order) {
        let mut state = self.lock();
        if !state.is_closed {
            state.orders.push_back(order);
        }
        drop(state);
        self.0.changed.notify_one();
    }

    /// Returns whether the call has its end.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Takes nothing more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.orders.clear();
    }

    /// Checks the limits, and counts what is to be written: steps that end at once count together.
    fn admit(&self, bytes: usize) -> Result<(), JournalError> {
        let (mut state, limits) = (self.lock(), &self.0.limits);
        let full = |reason: String| Err(JournalError::Full { reason });
        if state.is_closed {
            return Err(JournalError::Closed);
        }
        if bytes > limits.step_bytes {
            let most = limits.step_bytes;
            return full(format!("a step has {bytes} bytes, `step_bytes` allows {most}"));
        }
        if state.bytes.saturating_add(bytes) > limits.journal_bytes {
            let most = limits.journal_bytes;
            return full(format!("its steps have more than {most} bytes, see `journal_bytes`"));
        }
        if state.entries >= limits.journal_entries {
            let most = limits.journal_entries;
            return full(format!("it has {most} entries, see `journal_entries`"));
        }
        state.bytes += bytes;
        Ok(())
    }

    async fn keep(self, key: String, record: StepRecord) -> Result<(), JournalError> {
        let bytes = serde_json::to_vec(&record).map_err(|it| JournalError::Failed(it.into()))?;
        let bytes = bytes.len();
        self.admit(bytes)?;
        let (kept, is_kept) = oneshot::channel();
        self.order(Order::Step { key, record, bytes, kept });
        is_kept.await.map_err(|_| JournalError::Closed)
    }

    /// Waits for the interrupt of a call that asked.
    async fn withdrawn<T>(&self, questions: &[Waiting]) -> T {
        {
            let mut state = self.lock();
            for question in questions {
                state.ahead.remove(&*question.id);
            }
            self.interrupt_if_caught_up(&state);
        }
        pending().await
    }

    /// Returns what people decided about questions, if all are decided.
    fn verdicts(&self, questions: &[Waiting]) -> Option<Vec<Verdict>> {
        let mut state = self.lock();
        let verdict = |question: &Waiting| state.decided.get(&question.id).cloned();
        let verdicts = questions.iter().map(verdict).collect::<Option<Vec<_>>>()?;
        for verdict in &verdicts {
            state.ahead.remove(&*verdict.id);
        }
        Some(verdicts)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for EngineJournal {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        let recorded = {
            let mut state = self.lock();
            state.ahead.remove(key.as_str());
            let recorded = state.records.get(key.as_str()).cloned();
            if recorded.is_none() && state.is_interrupted {
                // No new step begins; the interrupt ends this wait.
                self.interrupt_if_caught_up(&state);
                return pending().boxed();
            }
            recorded
        };
        let step = match recorded {
            Some(record) => JournalStep::Replayed(record),
            None => {
                let (journal, key) = (self.clone(), key.to_string());
                JournalStep::Run(Ticket::new(move |record| journal.keep(key, record).boxed()))
            }
        };
        async move { Ok(step) }.boxed()
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        async move {
            if let Some(verdicts) = self.verdicts(questions) {
                return Ok(verdicts);
            }
            if self.is_interrupted() {
                return self.withdrawn(questions).await;
            }
            self.admit(0)?;
            let (decided, are_decided) = oneshot::channel();
            self.order(Order::Ask { questions: questions.to_vec(), decided });
            are_decided.await.map_err(|_| JournalError::Closed)?;
            match self.verdicts(questions) {
                Some(verdicts) => Ok(verdicts),
                None => self.withdrawn(questions).await,
            }
        }
        .boxed()
    }

    fn is_replaying(&self) -> bool {
        !self.lock().ahead.is_empty()
    }

    fn load<'a>(&'a self, thread: &'a ThreadKey) -> JournalFuture<'a, ThreadRecord> {
        let record = self.0.history.thread(thread);
        async move { Ok(record) }.boxed()
    }

    fn end(&self, end: CallEnd) -> JournalFuture<'_, ()> {
        async move {
            let mut history = self.0.history.clone();
            history.apply(&end.threads);
            let (bytes, most) = (history.write()?.len(), self.0.limits.history_bytes);
            if bytes > most && !end.threads.is_empty() {
                let reason = format!(
                    "the history of the thread has {bytes} bytes, `history_bytes` allows {most}"
                );
                return Err(JournalError::Full { reason });
            }
            let bytes = serde_json::to_vec(&end).map_err(|it| JournalError::Failed(it.into()))?;
            let (bytes, most) = (bytes.len(), self.0.limits.journal_bytes);
            if bytes > most {
                let reason = format!("its end has {bytes} bytes, `journal_bytes` allows {most}");
                return Err(JournalError::Full { reason });
            }
            let (kept, is_kept) = oneshot::channel();
            self.order(Order::End { end: Box::new(end), kept });
            is_kept.await.map_err(|_| JournalError::Closed)
        }
        .boxed()
    }
}

impl fmt::Debug for EngineJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineJournal").finish_non_exhaustive()
    }
}
