//! Where a call is kept: nowhere, in the store of its thread, or in a journal.
//!
//! The steps of the call ask it here; [`agent::kept`](crate::agent) begins and ends the call.

use std::sync::Arc;

use crate::call::context::CallContext;
use crate::error::AgentError;
use crate::journal::JournalScope;
use crate::memory::{Memory, Moment, SaveThread};
use crate::message::Messages;
use crate::model::ModelAnswer;
use crate::store::{CallRecord, StoreError, Verdict};

/// Where a call is kept.
pub(crate) enum Kept {
    /// In the store of its thread, which is written after each step: another process goes on with it.
    Thread(Arc<dyn SaveThread>),
    /// In a journal, which has each step: an engine runs the call again.
    Journal(Arc<JournalScope>),
}

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

    /// Writes the values that hooks keep with the thread to the store, whatever the
    /// [durability](crate::store::Durability), and nothing else of the call. Does nothing if none of them
    /// changed, or if the agent has no store outside of its process.
    ///
    /// For a hook that counts what must not be lost, before what it counts happens: a limit holds then
    /// though the process ends.
    ///
    /// ```
    /// use hooks_agent::hook::{AroundMask, ModelCall, NextModel};
    /// use hooks_agent::model::ModelAnswer;
    /// use hooks_agent::prelude::*;
    ///
    /// struct Count;
    ///
    /// impl AgentHook for Count {
    ///     fn around(&self) -> AroundMask {
    ///         AroundMask::MODEL_CALL
    ///     }
    ///
    ///     async fn around_model_call(
    ///         &self,
    ///         call: ModelCall<'_>,
    ///         next: NextModel<'_>,
    ///     ) -> Result<ModelAnswer, AgentError> {
    ///         let cx = call.context();
    ///         let add = |count: &mut Option<u64>| *count = Some(count.unwrap_or_default() + 1);
    ///         cx.update_thread_value("calls", add).map_err(AgentError::other)?;
    ///         cx.commit_values().await?;
    ///         next.run(call.into_request()).await
    ///     }
    /// }
    /// # let _ = Count;
    /// ```
    ///
    /// # Errors
    /// Those of [`commit`](Self::commit).
    pub async fn commit_values(&self) -> Result<(), StoreError> {
        match self.saver() {
            None => Ok(()),
            Some(saver) => saver.commit_values().await,
        }
    }

    /// Commits at a moment of the call.
    pub(crate) async fn commit_at(&self, moment: Moment) -> Result<(), StoreError> {
        match self.saver() {
            None => Ok(()),
            Some(saver) => saver.commit(moment).await,
        }
    }

    /// Commits the messages with which the call begins, so many of them without an answer.
    pub(crate) fn keep_unanswered(&self, memory: &Memory, count: usize) {
        if self.saver().is_some() {
            // A process that ends does not drop what would note it.
            memory.set_unanswered(count);
        }
    }

    /// Returns whether the call goes on with one whose process ended, and has done no new step yet: a
    /// model call or a tool call that runs now may have run before, for around hooks that care.
    ///
    /// True until the first answer of the model is in memory that was not there when the call began.
    #[must_use]
    pub fn is_recovery(&self) -> bool {
        self.saver().is_some_and(SaveThread::is_recovery)
    }

    /// Notes that the call did its first new step.
    pub(crate) fn end_recovery(&self) {
        if let Some(saver) = self.saver() {
            saver.end_recovery();
        }
    }

    /// Returns the messages of the call; none, if it begins again the task of a sub-agent that was cut
    /// off.
    pub(crate) fn new_input(&self, memory: &Memory, input: Messages) -> Messages {
        let begins_again = self.saver().is_some_and(|it| it.is_recovery() && it.continues());
        if begins_again && !memory.is_empty() { Messages::new() } else { input }
    }

    /// Returns what the store knows of a tool call without a result.
    pub(crate) fn call_record(&self, tool_call_id: &str) -> Option<CallRecord> {
        self.saver()?;
        self.memory()?.call_record(tool_call_id)
    }

    /// Returns the key of a tool call that is the same in each run of it; `None` if no run is repeated.
    pub(crate) fn kept_key(&self, tool_call_id: &str) -> Option<Arc<str>> {
        match self.journal() {
            Some(journal) => Some(journal.idempotency_key(tool_call_id)),
            None => self.call_record(tool_call_id).map(|record| record.key),
        }
    }

    /// Returns whether an earlier run may have started tools of this round.
    pub(crate) fn may_have_acted(&self) -> bool {
        self.journal().is_some_and(|journal| journal.may_have_acted())
    }

    /// Returns what answers in place of the model: an answer that an earlier run has recorded.
    pub(crate) fn recorded_answer(&self) -> Option<ModelAnswer> {
        self.journal()?.recorded_answer()
    }

    /// Returns whether people decided something.
    pub(crate) fn has_verdicts(&self) -> bool {
        !self.call.verdicts.is_empty()
    }

    /// Returns what people decided, before it is checked: what names nobody, by the user of the call.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let by = self.signed_in().cloned();
        let verdicts = self.call.verdicts.iter().cloned();
        verdicts.map(|it| Verdict { by: it.by.or_else(|| by.clone()), ..it }).collect()
    }

    /// Expires the questions of memory whose time is over. Those in a store expire there.
    pub(crate) fn expire_questions(&self, memory: &Memory, now: u64) {
        if self.saver().is_none() {
            memory.expire_questions(now);
        }
    }

    /// Returns the beginning of the id of a question, if it must be the same in each run.
    pub(crate) fn question_id(&self) -> Option<String> {
        self.journal().map(|journal| journal.question_id())
    }

    /// Waits until people have decided about what waits, where the call waits for them. Returns `false` if
    /// it ends with the questions.
    pub(crate) async fn ask_people(&self, memory: &Memory) -> Result<bool, AgentError> {
        let Some(journal) = self.journal() else { return Ok(false) };
        Box::pin(journal.ask(memory)).await?;
        Ok(true)
    }

    /// Returns whether another process can go on with the call where this one leaves it.
    pub(crate) fn can_be_left(&self) -> bool {
        self.saver().is_some()
    }

    /// Returns whether what happens now to this tool call, or else to the call, happened before.
    pub(crate) fn replays(&self, tool_call_id: Option<&str>) -> bool {
        self.journal().is_some_and(|journal| journal.is_replaying(tool_call_id))
    }

    /// Sets what writes to the store of the thread.
    pub(crate) fn set_saver(&self, saver: Arc<dyn SaveThread>) {
        // A call has one thread, so it is set once.
        let _ = self.call.kept.set(Kept::Thread(saver));
    }

    /// Returns the journal of the call, for what begins and ends a call in it.
    pub(crate) fn journal(&self) -> Option<&Arc<JournalScope>> {
        match self.call.kept.get()? {
            Kept::Journal(journal) => Some(journal),
            Kept::Thread(_) => None,
        }
    }

    pub(super) fn saver(&self) -> Option<&dyn SaveThread> {
        match self.call.kept.get()? {
            Kept::Thread(saver) => Some(&**saver),
            Kept::Journal(_) => None,
        }
    }
}
