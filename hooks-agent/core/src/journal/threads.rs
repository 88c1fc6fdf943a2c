//! The threads of a call with a journal: its own and those of its sub-agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::AgentError;
use crate::journal::end::CallEnd;
use crate::journal::scope::JournalScope;
use crate::memory::Memory;
use crate::store::{Step, StoreError, ThreadKey, ThreadRecord, Verdict};

/// The threads that a call has read, which its sub-agents share.
#[derive(Default)]
pub(crate) struct JournalThreads(Mutex<BTreeMap<ThreadKey, Thread>>);

#[derive(Clone)]
struct Thread {
    memory: Arc<Memory>,
    /// Whether it is in a store outside of the process.
    is_stored: bool,
}

impl JournalThreads {
    /// Returns the memory of a thread that was read.
    pub(crate) fn get(&self, key: &ThreadKey) -> Option<Arc<Memory>> {
        self.lock().get(key).map(|thread| thread.memory.clone())
    }

    /// Adds a thread, unless it was read in the meantime. Returns its memory.
    pub(crate) fn add(
        &self,
        key: ThreadKey,
        record: ThreadRecord,
        is_stored: bool,
    ) -> Result<Arc<Memory>, StoreError> {
        let memory = Arc::new(Memory::new());
        let user = record.user.clone();
        memory.restore_record(record, 0)?;
        memory.set_user(user);
        Ok(self.lock().entry(key).or_insert(Thread { memory, is_stored }).memory.clone())
    }

    /// Adds what the call has made of its threads to its end.
    pub(crate) fn write_to(&self, end: &mut CallEnd) {
        let threads = self.lock().clone();
        for (key, Thread { memory, is_stored }) in threads {
            let Some(step) = memory.step() else { continue };
            let step = Step { user: memory.user(), ..step };
            let changed = if is_stored { &mut end.stored } else { &mut end.threads };
            changed.push((key, step));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Thread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalScope {
    /// Reads a thread that is in the journal.
    pub(crate) async fn load(&self, key: &ThreadKey) -> Result<ThreadRecord, AgentError> {
        self.check().map_err(AgentError::other)?;
        let loaded = self.journal.load(key).await;
        loaded.map_err(|error| AgentError::other(self.fail(error)))
    }

    /// Writes the end of the call.
    pub(crate) async fn write_end(&self, end: CallEnd) -> Result<(), AgentError> {
        let kept = self.journal.end(end).await;
        kept.map_err(|error| AgentError::other(self.fail(error)))
    }

    /// Asks people, and stores what they decided in memory.
    pub(crate) async fn ask(&self, memory: &Memory) -> Result<(), AgentError> {
        if !self.is_root() {
            let reason = "an agent inside of a tool asks people as a tool made by `to_tool` alone";
            return Err(AgentError::other(reason));
        }
        let waiting = memory.waiting();
        self.check().map_err(AgentError::other)?;
        let verdicts = self.journal.ask(&waiting).await;
        let verdicts = verdicts.map_err(|error| AgentError::other(self.fail(error)))?;
        for question in &waiting {
            let of_question = verdicts.iter().filter(|verdict| verdict.id == question.id);
            if of_question.count() != 1 {
                let reason = format!("the journal has no decision about `{}`", question.id);
                return Err(AgentError::other(reason));
            }
        }
        // The journal decides when a question expires, whatever decisions it allows.
        let (expired, verdicts): (Vec<_>, Vec<_>) =
            verdicts.into_iter().partition(Verdict::is_expired);
        let remembered = memory.decide(&verdicts, 0).map_err(StoreError::from)?;
        if !remembered.is_empty() {
            return Err(StoreError::NoApprovals.into());
        }
        memory.expire(&expired);
        Ok(())
    }
}
