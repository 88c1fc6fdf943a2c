//! The journal of one call, or of a call inside of it: which steps it had.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::journal::threads::JournalThreads;
use crate::journal::{Journal, StepKey, StepKind};
use crate::model::ModelAnswer;
use crate::run_id::RunId;

/// The journal of a call, and the steps that it had in this run.
pub(crate) struct JournalScope {
    pub(super) journal: Arc<dyn Journal>,
    /// The run id of the call with the journal.
    root: RunId,
    pub(super) threads: Arc<JournalThreads>,
    /// What the keys begin with; empty for the call with the journal.
    path: String,
    counts: Mutex<Counts>,
    /// What answers the next call of the model.
    recorded: Mutex<Option<ModelAnswer>>,
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
}

impl JournalScope {
    pub(crate) fn new(journal: Arc<dyn Journal>, root: RunId) -> Self {
        let threads = Arc::default();
        Self::of(journal, root, threads, String::new())
    }

    /// Creates the scope of a call of an agent inside of this one, through this tool call.
    pub(crate) fn inside(&self, agent: &str, tool_call_id: Option<&str>) -> Self {
        let path = {
            let mut counts = self.lock();
            let (round, id) = (counts.round, tool_call_id.unwrap_or_default());
            let agent = agent.replace('%', "%25").replace('/', "%2f").replace(':', "%3a");
            let call = format!("{}{round}/{id}/{agent}", self.path);
            let number = counts.calls.entry(call.clone()).or_default();
            *number += 1;
            format!("{call}/{number}:")
        };
        Self::of(self.journal.clone(), self.root, self.threads.clone(), path)
    }

    fn of(
        journal: Arc<dyn Journal>,
        root: RunId,
        threads: Arc<JournalThreads>,
        path: String,
    ) -> Self {
        let (counts, recorded) = (Mutex::default(), Mutex::default());
        Self { journal, root, threads, path, counts, recorded }
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.journal.is_replaying()
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

    pub(super) fn begin_round(&self) {
        let mut counts = self.lock();
        counts.round += 1;
        counts.models = 0;
        counts.tools.clear();
    }

    pub(super) fn next_model(&self) -> StepKey {
        let mut counts = self.lock();
        counts.models += 1;
        let (round, attempt) = (counts.round, counts.models);
        StepKey::new(&self.path, StepKind::Model { round, attempt })
    }

    pub(super) fn next_tool(&self, id: &Arc<str>) -> StepKey {
        let mut counts = self.lock();
        let round = counts.round;
        let attempt = counts.tools.entry(id.clone()).or_default();
        *attempt += 1;
        let attempt = *attempt;
        StepKey::new(&self.path, StepKind::Tool { round, id: id.clone(), attempt })
    }

    pub(super) fn next_compression(&self) -> StepKey {
        let mut counts = self.lock();
        counts.compressions += 1;
        let number = counts.compressions;
        StepKey::new(&self.path, StepKind::Compression { number })
    }

    /// Notes whether the answer of the model is of an earlier run.
    pub(super) fn answered(&self, is_replayed: bool) {
        self.lock().is_answer_replayed = is_replayed;
    }

    /// Returns whether an earlier run may have started tools of this round.
    pub(crate) fn may_have_acted(&self) -> bool {
        self.lock().is_answer_replayed
    }

    /// Sets what answers the next call of the model in place of the model.
    pub(super) fn set_recorded(&self, answer: Option<ModelAnswer>) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// Takes what answers in place of the model.
    pub(crate) fn take_recorded(&self) -> Option<ModelAnswer> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for JournalScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalScope").field("path", &self.path).finish_non_exhaustive()
    }
}
