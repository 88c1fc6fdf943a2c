//! The threads of a call with a journal: its own and those of its sub-agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::Agent;
use crate::error::AgentError;
use crate::journal::{CallEnd, JournalScope};
use crate::memory::Memory;
use crate::store::{Step, StoreError, ThreadKey, Verdict};

/// The threads that a call has read, which its sub-agents share.
#[derive(Default)]
pub(crate) struct JournalThreads(Mutex<BTreeMap<ThreadKey, Thread>>);

#[derive(Clone)]
struct Thread {
    memory: Arc<Memory>,
    /// Whether it is in a store outside of the process.
    is_stored: bool,
}

impl JournalScope {
    /// Returns the memory of a thread, which is read when it is first used.
    pub(crate) async fn memory<A: Agent + ?Sized>(
        &self,
        agent: &A,
        thread: &str,
    ) -> Result<Arc<Memory>, AgentError> {
        let key = ThreadKey::new(agent.name(), thread).map_err(StoreError::from)?;
        if let Some(memory) = self.known(&key) {
            return Ok(memory);
        }
        let stored = agent.state().threads().stored();
        let record = match stored {
            Some(durable) => durable.read(&key).await?,
            None => {
                self.check().map_err(AgentError::other)?;
                let loaded = self.journal.load(&key).await;
                loaded.map_err(|error| AgentError::other(self.failure.keep(error)))?
            }
        };
        let memory = Arc::new(Memory::new());
        let user = record.user.clone();
        memory.restore_record(record, 0)?;
        memory.set_user(user);
        let thread = Thread { memory: memory.clone(), is_stored: stored.is_some() };
        let mut threads = self.threads.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(threads.entry(key).or_insert(thread).memory.clone())
    }

    fn known(&self, key: &ThreadKey) -> Option<Arc<Memory>> {
        let threads = self.threads.0.lock().unwrap_or_else(PoisonError::into_inner);
        threads.get(key).map(|thread| thread.memory.clone())
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
        let verdicts = verdicts.map_err(|error| AgentError::other(self.failure.keep(error)))?;
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
        memory.decide(&verdicts, 0).map_err(StoreError::from)?;
        memory.expire(&expired);
        Ok(())
    }

    /// Keeps the end of the call.
    pub(crate) async fn end<A: Agent + ?Sized>(
        &self,
        agent: &A,
        mut end: CallEnd,
    ) -> Result<(), AgentError> {
        let threads = {
            let threads = self.threads.0.lock().unwrap_or_else(PoisonError::into_inner);
            threads.clone()
        };
        for (key, Thread { memory, is_stored }) in threads {
            let Some(step) = memory.step() else { continue };
            let step = Step { user: memory.user(), ..step };
            let changed = if is_stored { &mut end.stored } else { &mut end.threads };
            changed.push((key, step));
        }
        let stored = CallEnd { stored: end.stored.clone(), ..CallEnd::nothing() };
        let kept = self.journal.end(end).await;
        kept.map_err(|error| AgentError::other(self.failure.keep(error)))?;
        stored.write_stored(agent).await
    }
}
