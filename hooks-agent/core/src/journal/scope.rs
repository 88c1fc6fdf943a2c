//! The journal of one call, or of a call inside of it: which steps it had.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;

use crate::error::journal::JournalError;
use crate::journal::contract::{Journal, JournalStep, Ticket};
use crate::journal::failure::{Failure, JournalFailed};
use crate::journal::key::{StepKey, StepKind};
use crate::journal::record::{ModelRecord, StepRecord};
use crate::journal::threads::JournalThreads;
use crate::model::{ChatChunk, ModelAnswer};
use crate::run_id::RunId;

/// The journal of a call, and the steps that it had in this run.
pub(crate) struct JournalScope {
    pub(super) journal: Arc<dyn Journal>,
    /// The run id of the call with the journal.
    root: RunId,
    pub(crate) threads: Arc<JournalThreads>,
    pub(super) failure: Arc<Failure>,
    /// What the keys begin with; empty for the call with the journal.
    path: String,
    /// The scope that this one is inside of, and the tool call there.
    outer: Option<(Arc<Self>, Arc<str>)>,
    counts: Mutex<Counts>,
    /// What answers in place of the model.
    recorded: Mutex<Option<ModelRecord>>,
    /// Whether the call is past what earlier runs have recorded: its last step was not.
    is_live: AtomicBool,
    /// Whether the agent reads an answer that was recorded.
    reads_recorded: AtomicBool,
}

#[derive(Default)]
struct Counts {
    round: u32,
    models: u32,
    compressions: u32,
    /// How many times each tool call of the round came to its tool.
    tools: HashMap<Arc<str>, u32>,
    /// How many calls of an agent each tool call made.
    calls: HashMap<String, u32>,
    questions: u32,
    /// Whether the answer of this round is of an earlier run.
    is_answer_replayed: bool,
    /// The tool calls of the round that were not recorded, and those that return what was.
    live: HashSet<Arc<str>>,
    replayed: HashSet<Arc<str>>,
}

impl JournalScope {
    pub(crate) fn new(journal: Arc<dyn Journal>, root: RunId) -> Self {
        Self {
            journal,
            root,
            threads: Arc::default(),
            failure: Arc::default(),
            path: String::new(),
            outer: None,
            counts: Mutex::default(),
            recorded: Mutex::default(),
            is_live: AtomicBool::new(false),
            reads_recorded: AtomicBool::new(false),
        }
    }

    /// Creates the scope of a call of an agent inside of this one, through this tool call.
    pub(crate) fn inside(self: &Arc<Self>, agent: &str, tool_call_id: Option<&str>) -> Self {
        let path = {
            let mut counts = self.lock();
            let (round, id) = (counts.round, tool_call_id.unwrap_or_default());
            let call = format!("{}{round}/{}/{}", self.path, plain(id), plain(agent));
            let number = counts.calls.entry(call.clone()).or_default();
            *number += 1;
            format!("{call}/{number}:")
        };
        let id = tool_call_id.unwrap_or_default();
        Self {
            threads: self.threads.clone(),
            failure: self.failure.clone(),
            path,
            outer: Some((self.clone(), id.into())),
            ..Self::new(self.journal.clone(), self.root)
        }
    }

    /// Returns whether what happens now was recorded by an earlier run: to this tool call, or to the
    /// call. Other tools of the round may be at another point.
    pub(crate) fn is_replaying(&self, tool_call_id: Option<&str>) -> bool {
        if let Some(id) = tool_call_id {
            let counts = self.lock();
            if counts.replayed.contains(id) || counts.live.contains(id) {
                return counts.replayed.contains(id);
            }
        } else if self.reads_recorded.load(Ordering::Relaxed) || self.recorded().is_some() {
            return true;
        }
        !self.is_live.load(Ordering::Relaxed) && self.journal.is_replaying()
    }

    /// Returns whether another process may run the call again.
    pub(crate) fn outlives_process(&self) -> bool {
        self.journal.outlives_process()
    }

    /// Returns an error if the journal has failed.
    pub(crate) fn check(&self) -> Result<(), JournalFailed> {
        self.failure.check()
    }

    /// Fails the journal. Returns the error of the call.
    pub(crate) fn fail(&self, error: JournalError) -> JournalFailed {
        self.failure.keep(error)
    }

    /// Begins a step.
    pub(crate) async fn step(&self, key: &StepKey) -> Result<JournalStep, JournalFailed> {
        self.check()?;
        let step = self.journal.step(key).await.map_err(|error| self.failure.keep(error))?;
        if let JournalStep::Run(_) = step {
            match key.kind() {
                StepKind::Tool { id, .. } => self.begin_tool(id),
                _ => {
                    self.is_live.store(true, Ordering::Relaxed);
                    self.begin_outer();
                }
            }
        }
        Ok(step)
    }

    /// Keeps what a step came to.
    pub(crate) async fn keep(
        &self,
        ticket: Ticket,
        record: Result<StepRecord, JournalError>,
    ) -> Result<(), JournalFailed> {
        self.check()?;
        let kept = async { ticket.complete(record?).await };
        kept.await.map_err(|error| self.failure.keep(error))
    }

    /// Notes that a tool call was not recorded.
    fn begin_tool(&self, id: &Arc<str>) {
        self.lock().live.insert(id.clone());
        self.begin_outer();
    }

    fn begin_outer(&self) {
        if let Some((outer, id)) = &self.outer {
            outer.begin_tool(id);
        }
    }

    /// Notes that a tool call returns what was recorded, until the guard is dropped.
    pub(crate) fn replay_tool(&self, id: Arc<str>) -> impl Drop + '_ {
        self.lock().replayed.insert(id.clone());
        Replaying(move || {
            self.lock().replayed.remove(&id);
        })
    }

    /// Returns a recorded answer. Its chunks came before it was recorded, so they are replayed; what
    /// follows its end may not be.
    pub(crate) fn replay_answer(self: &Arc<Self>, record: ModelRecord) -> ModelAnswer {
        self.reads_recorded.store(true, Ordering::Relaxed);
        let scope = self.clone();
        let reading = Replaying(move || scope.reads_recorded.store(false, Ordering::Relaxed));
        let mut reading = Some(reading);
        record.into_answer().map_stream(|stream| {
            Box::pin(stream.inspect(move |chunk| {
                if matches!(chunk, Ok(ChatChunk::End { .. }) | Err(_)) {
                    drop(reading.take());
                }
            }))
        })
    }

    /// Sets what answers in place of the model, until the guard is dropped.
    pub(crate) fn replay_model(&self, record: ModelRecord) -> impl Drop + '_ {
        *self.recorded() = Some(record);
        Replaying(|| *self.recorded() = None)
    }

    /// Returns whether this is the call with the journal, and none inside of it.
    pub(crate) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// Returns the run id of the call: the same in each run.
    pub(crate) fn run_id(&self) -> RunId {
        if self.is_root() { self.root } else { self.root.derived(&self.path) }
    }

    /// Returns the idempotency key of a tool call of this round: the same in each run.
    pub(crate) fn idempotency_key(&self, tool_call_id: &str) -> Arc<str> {
        let round = self.lock().round;
        let name = format!("{}{round}/{tool_call_id}", self.path);
        self.root.derived(&name).to_string().into()
    }

    /// Returns the beginning of the id of a question: the same in each run.
    pub(crate) fn question_id(&self) -> String {
        let mut counts = self.lock();
        counts.questions += 1;
        let name = format!("{}question/{}", self.path, counts.questions);
        self.root.derived(&name).to_string().replace('-', "")[..20].to_owned()
    }

    pub(crate) fn begin_round(&self) {
        let mut counts = self.lock();
        counts.round += 1;
        counts.models = 0;
        counts.tools.clear();
        counts.live.clear();
    }

    pub(crate) fn next_model(&self) -> StepKey {
        let mut counts = self.lock();
        counts.models += 1;
        let (round, attempt) = (counts.round, counts.models);
        StepKey::new(&self.path, StepKind::Model { round, attempt })
    }

    pub(crate) fn next_tool(&self, id: &Arc<str>) -> StepKey {
        let mut counts = self.lock();
        let round = counts.round;
        let attempt = counts.tools.entry(id.clone()).or_default();
        *attempt += 1;
        let attempt = *attempt;
        StepKey::new(&self.path, StepKind::Tool { round, id: id.clone(), attempt })
    }

    pub(crate) fn next_compression(&self) -> StepKey {
        let mut counts = self.lock();
        counts.compressions += 1;
        let number = counts.compressions;
        StepKey::new(&self.path, StepKind::Compression { number })
    }

    /// Notes whether the answer of the model is of an earlier run.
    pub(crate) fn answered(&self, is_replayed: bool) {
        self.lock().is_answer_replayed = is_replayed;
    }

    /// Returns whether an earlier run may have started tools of this round.
    pub(crate) fn may_have_acted(&self) -> bool {
        self.lock().is_answer_replayed
    }

    /// Returns what answers in place of the model: each time, if a hook asks more than once.
    pub(crate) fn recorded_answer(&self) -> Option<ModelAnswer> {
        self.recorded().clone().map(ModelRecord::into_answer)
    }

    fn recorded(&self) -> MutexGuard<'_, Option<ModelRecord>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a name without the signs that separate the parts of a path.
fn plain(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2f").replace(':', "%3a")
}

impl fmt::Debug for JournalScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalScope").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Runs a closure when it is dropped.
struct Replaying<F: FnMut()>(F);

impl<F: FnMut()> Drop for Replaying<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
