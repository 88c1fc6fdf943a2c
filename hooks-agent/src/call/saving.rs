//! Writes the thread of a call to its store.

use std::sync::Arc;

use crate::call::CallContext;
use crate::memory::{Moment, SaveThread};
use crate::store::{CallRecord, StoreError, Verdict};

impl CallContext {
    /// Writes what the call changed in its thread to the store, in one transaction: messages, values of
    /// hooks, questions. Does nothing if the agent has no store outside of its process.
    ///
    /// The agent commits each step by itself. An agent of your own calls it where it must not lose
    /// what it did.
    ///
    /// # Errors
    /// [`StoreError`]. The changes stay in memory and are part of the next commit, except after
    /// [`StoreError::LeaseLost`], which ends the call.
    pub async fn commit(&self) -> Result<(), StoreError> {
        self.commit_at(Moment::Step).await
    }

    /// Returns whether the call goes on with one whose process ended, and has done no new step yet: a
    /// model call or a tool call that runs now may have run before, for around hooks that care.
    ///
    /// True until the first answer of the model is in memory that was not there when the call began.
    #[must_use]
    pub fn is_recovery(&self) -> bool {
        self.call.saver.get().is_some_and(|saver| saver.is_recovery())
    }

    /// Notes that the call did its first new step.
    pub(crate) fn end_recovery(&self) {
        if let Some(saver) = self.call.saver.get() {
            saver.end_recovery();
        }
    }

    /// Returns whether the call goes on with one of the same tool call, whose process ended.
    pub(crate) fn continues(&self) -> bool {
        self.call.saver.get().is_some_and(|saver| saver.continues())
    }

    /// Returns whether the thread is in a store outside of the process.
    pub(crate) fn is_durable(&self) -> bool {
        self.call.saver.get().is_some()
    }

    /// Sets what writes to the store.
    pub(crate) fn set_saver(&self, saver: Arc<dyn SaveThread>) {
        // A call has one thread, so it is set once.
        let _ = self.call.saver.set(saver);
    }

    /// Commits at a moment of a call.
    pub(crate) async fn commit_at(&self, moment: Moment) -> Result<(), StoreError> {
        match self.call.saver.get() {
            None => Ok(()),
            Some(saver) => saver.commit(moment).await,
        }
    }

    /// Commits that a tool starts.
    pub(crate) async fn commit_start(&self, tool_call_id: &str) -> Result<(), StoreError> {
        let Some(saver) = self.call.saver.get() else { return Ok(()) };
        if let Some(memory) = self.memory() {
            memory.start_call(tool_call_id);
        }
        saver.commit(Moment::Step).await
    }

    /// Returns what the store knows of a tool call without a result.
    pub(crate) fn call_record(&self, tool_call_id: &str) -> Option<CallRecord> {
        self.call.saver.get()?;
        self.memory()?.call_record(tool_call_id)
    }

    /// Returns what people decided, before it is checked.
    pub(crate) fn verdicts(&self) -> &[Verdict] {
        &self.call.verdicts
    }

    /// Returns the user of the thread, if the caller named one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.call.user.as_deref()
    }
}
