//! A memory whose thread is in a store.

use crate::memory::conversation::{Conversation, Memory};
use crate::memory::journal::{Journal, Restored, Running, Served};
use crate::memory::left::Left;
use crate::message::ToolResult;
use crate::store::{CallRecord, CallState, Step, StoreError, ThreadRecord};

impl Memory {
    /// Replaces everything by what the store has.
    pub(crate) fn restore_record(
        &self,
        mut record: ThreadRecord,
        row: i64,
    ) -> Result<(), StoreError> {
        let values = std::mem::take(&mut record.values);
        let unreadable = |source: serde_json::Error| StoreError::Unreadable {
            what: "the state of a thread".to_owned(),
            source: source.into(),
        };
        let Restored { messages, left, journal } =
            Journal::restore(record, row).map_err(unreadable)?;
        // A thread that the store had and has no more was forgotten, perhaps by another process.
        let was_stored = self.version().is_some_and(|(_, version)| version > 0);
        let (_, version) = journal.version();
        let is_new = version == 0;
        if is_new && !was_stored {
            // What the owner of memory put there before is written with the first step.
            self.thread_values().track();
            self.lock().journal = Some(Box::new(journal));
            return Ok(());
        }
        self.thread_values().restore(values);
        let mut conversation = self.lock();
        let replaced = conversation.replaced + 1;
        let user = conversation.user.take();
        let inbox = conversation.inbox.take();
        *conversation = Conversation {
            messages,
            replaced,
            user,
            left: (!left.is_empty()).then(|| Box::new(left)),
            journal: Some(Box::new(journal)),
            inbox,
            name: None,
        };
        Ok(())
    }

    /// Returns the row and the version of the thread that memory continues, if the thread is in a
    /// store. A thread that is forgotten and begins again has another row.
    pub(crate) fn version(&self) -> Option<(i64, u64)> {
        self.lock().journal.as_ref().map(|journal| journal.version())
    }

    /// Forgets everything of a thread that is in a store: the next call reads it again.
    pub(crate) fn expire_record(&self) {
        let mut conversation = self.lock();
        if conversation.journal.is_some() {
            let replaced = conversation.replaced + 1;
            *conversation = Conversation { replaced, ..Conversation::default() };
            self.thread_values().forget();
        }
    }

    /// Returns what the store does not have yet.
    pub(crate) fn step(&self) -> Option<Step> {
        let values = self.thread_values().changed();
        let mut conversation = self.lock();
        let Conversation { messages, left, journal, .. } = &mut *conversation;
        let journal = journal.as_mut()?;
        let nothing = Left::default();
        match journal.step(messages, left.as_deref().unwrap_or(&nothing)) {
            Some(step) => Some(Step { values, ..step }),
            None if values.is_empty() => None,
            None => Some(Step { values, ..journal.empty_step() }),
        }
    }

    /// Returns what the store does not have yet; a step of nothing if it has everything.
    pub(crate) fn any_step(&self) -> Option<Step> {
        self.step().or_else(|| Some(self.lock().journal.as_ref()?.empty_step()))
    }

    /// Returns the values that the store does not have yet, and nothing else.
    pub(crate) fn values_step(&self) -> Option<Step> {
        let values = self.thread_values().changed();
        if values.is_empty() {
            return None;
        }
        Some(Step { values, ..self.lock().journal.as_ref()?.empty_step() })
    }

    /// Notes that the store has the step.
    pub(crate) fn committed(&self, step: &Step) {
        self.thread_values().committed(&step.values);
        if let Some(journal) = &mut self.lock().journal {
            journal.committed(step);
        }
    }

    /// Returns the call that was in progress when its process ended.
    pub(crate) fn running(&self) -> Option<Running> {
        self.lock().journal.as_ref()?.running.clone()
    }

    /// Sets the call in progress.
    pub(crate) fn set_running(&self, running: Option<Running>) {
        if let Some(journal) = &mut self.lock().journal {
            journal.running = running;
        }
    }

    /// Returns the reply of the last call that served a tool call of another agent.
    pub(crate) fn served(&self) -> Option<Served> {
        self.lock().journal.as_ref()?.served.clone()
    }

    /// Sets the reply of a call that served a tool call of another agent.
    pub(crate) fn set_served(&self, served: Option<Served>) {
        if let Some(journal) = &mut self.lock().journal {
            journal.served = served;
        }
    }

    /// Notes that a tool starts. Returns whether it had not started before.
    pub(crate) fn start_call(&self, tool_call_id: &str) -> bool {
        let mut conversation = self.lock();
        let Some(journal) = &mut conversation.journal else { return false };
        let known = journal.call(tool_call_id).map(|call| call.state);
        journal.start(tool_call_id);
        known == Some(CallState::Open)
    }

    /// Notes that a tool did not start that had not started before.
    pub(crate) fn unstart_call(&self, tool_call_id: &str) {
        if let Some(journal) = &mut self.lock().journal {
            journal.unstart(tool_call_id);
        }
    }

    /// Keeps a result whose earlier tool calls have none, for the store.
    pub(crate) fn hold_result(&self, result: &ToolResult) {
        if let Some(journal) = &mut self.lock().journal {
            journal.hold(result.clone());
        }
    }

    /// Returns what the store knows of a tool call without a result.
    pub(crate) fn call_record(&self, tool_call_id: &str) -> Option<CallRecord> {
        let conversation = self.lock();
        let record = conversation.journal.as_ref()?.call(tool_call_id)?.clone();
        (record.state != CallState::Answered).then_some(record)
    }
}
