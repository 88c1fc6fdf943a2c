//! A journal in the memory of the process.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::journal::JournalError;
use crate::journal::contract::{Journal, JournalFuture, JournalStep, Ticket};
use crate::journal::end::CallEnd;
use crate::journal::key::StepKey;
use crate::journal::record::StepRecord;
use crate::store::{ThreadKey, ThreadRecord, Verdict, Waiting};

/// A journal in the memory of the process: for tests of agents that are to run on a durable engine, and
/// as the smallest example of a [`Journal`]. It holds one call; clones share it.
///
/// A call that is dropped or fails in mid-run is run again with [`again`](Self::again).
///
/// ```
/// use hooks_agent::call::RunId;
/// use hooks_agent::journal::MemoryJournal;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("count", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let journal = MemoryJournal::new();
/// let run = RunId::random();
/// let options = || CallOptions::new().run_id(run).journal(journal.again());
/// let first = agent.call_with(options(), "Go").await?;
/// let second = agent.call_with(options(), "Go").await?;
/// assert_eq!(first, second);
/// assert_eq!(journal.keys(), ["model/1/1"]);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct MemoryJournal {
    kept: Arc<Mutex<Kept>>,
    /// How many records this run has not come to.
    ahead: Arc<Mutex<Vec<String>>>,
}

#[derive(Default)]
struct Kept {
    records: HashMap<String, StepRecord>,
    order: Vec<String>,
    threads: HashMap<ThreadKey, ThreadRecord>,
    questions: Vec<Waiting>,
    verdicts: Vec<Verdict>,
    end: Option<CallEnd>,
}

impl MemoryJournal {
    /// Creates an empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same journal for the next run of the call.
    #[must_use]
    pub fn again(&self) -> Self {
        let kept = self.lock();
        let decided = kept.verdicts.iter().map(|verdict| verdict.id.to_string());
        let ahead = kept.order.iter().cloned().chain(decided).collect();
        drop(kept);
        Self { kept: self.kept.clone(), ahead: Arc::new(Mutex::new(ahead)) }
    }

    /// Returns the keys of the completed steps, in the order in which they were completed.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.lock().order.clone()
    }

    /// Returns the record of a step.
    #[must_use]
    pub fn record(&self, key: &str) -> Option<StepRecord> {
        self.lock().records.get(key).cloned()
    }

    /// Removes the records that were completed after the first `count`, as if the process had ended
    /// there.
    pub fn cut(&self, count: usize) {
        let mut kept = self.lock();
        let count = count.min(kept.order.len());
        let removed = kept.order.split_off(count);
        kept.records.retain(|key, _| !removed.contains(key));
        kept.end = None;
    }

    /// Returns the questions of the call so far.
    #[must_use]
    pub fn questions(&self) -> Vec<Waiting> {
        self.lock().questions.clone()
    }

    /// Decides a question, for the next run of the call.
    pub fn decide(&self, verdict: Verdict) {
        self.lock().verdicts.push(verdict);
    }

    /// Returns how the call ended.
    #[must_use]
    pub fn ended(&self) -> Option<CallEnd> {
        self.lock().end.clone()
    }

    /// Sets a thread as it is before the call.
    pub fn set_thread(&self, key: ThreadKey, record: ThreadRecord) {
        self.lock().threads.insert(key, record);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ahead(&self) -> MutexGuard<'_, Vec<String>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        self.ahead().retain(|ahead| ahead != key.as_str());
        if let Some(record) = self.record(key.as_str()) {
            return Box::pin(ready(Ok(JournalStep::Replayed(record))));
        }
        let (kept, key) = (self.kept.clone(), key.to_string());
        let ticket = Ticket::new(move |record| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.order.push(key.clone());
            kept.records.insert(key, record);
            Box::pin(ready(Ok(())))
        });
        Box::pin(ready(Ok(JournalStep::Run(ticket))))
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        self.ahead().retain(|ahead| questions.iter().all(|question| *question.id != **ahead));
        let mut kept = self.lock();
        let known: Vec<_> = kept.questions.iter().map(|question| question.id.clone()).collect();
        let new = questions.iter().filter(|question| !known.contains(&question.id));
        kept.questions.extend(new.cloned());
        let decided = |question: &Waiting| {
            kept.verdicts.iter().find(|verdict| verdict.id == question.id).cloned()
        };
        let verdicts: Option<Vec<_>> = questions.iter().map(decided).collect();
        // The next run of the call has the decisions.
        Box::pin(ready(verdicts.ok_or(JournalError::Closed)))
    }

    fn is_replaying(&self) -> bool {
        !self.ahead().is_empty()
    }

    fn outlives_process(&self) -> bool {
        false
    }

    fn load<'a>(&'a self, thread: &'a ThreadKey) -> JournalFuture<'a, ThreadRecord> {
        let record = self.lock().threads.get(thread).cloned();
        Box::pin(ready(Ok(record.unwrap_or_default())))
    }

    fn end(&self, end: CallEnd) -> JournalFuture<'_, ()> {
        self.lock().end = Some(end);
        Box::pin(ready(Ok(())))
    }
}

/// The number of steps, and nothing of what they came to.
impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryJournal").field("steps", &self.keys().len()).finish_non_exhaustive()
    }
}
