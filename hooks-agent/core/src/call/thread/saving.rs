//! Writes the thread of a call to its store.

use std::sync::Arc;

use crate::call::context::CallContext;
use crate::memory::{Claim, Memory, Moment, SaveThread};
use crate::store::{CallRecord, StoreError, ThreadKey, Verdict};

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
        match self.call.saver.get() {
            None => Ok(()),
            Some(saver) => saver.commit_values().await,
        }
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

    /// Returns the user of the thread, if the caller named one, or that of the call that this one is part
    /// of.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.call.user.as_deref()
    }

    /// Makes a thread in memory one of the user of the call.
    pub(crate) fn claim_thread(&self, memory: &Memory) -> Result<(), StoreError> {
        if memory.claim(&self.claim()) { Ok(()) } else { Err(self.other_user()?) }
    }

    /// Checks that the call may use a thread in memory.
    pub(crate) fn check_thread(&self, memory: &Memory) -> Result<(), StoreError> {
        let is_allowed = self.claim().allows(memory.user().as_deref());
        if is_allowed { Ok(()) } else { Err(self.other_user()?) }
    }

    fn other_user(&self) -> Result<StoreError, StoreError> {
        let thread = ThreadKey::new(self.call.agent_name.clone(), self.thread_id())?;
        Ok(StoreError::OtherUser { thread })
    }

    /// Returns how the call names the user of its thread.
    pub(crate) fn claim(&self) -> Claim {
        // An empty name is nobody's.
        let user = self.call.user.clone().filter(|user| !user.is_empty());
        // Who may use a thread may use those of its sub-agents.
        let takes_over = self.call.takes_over || user.is_some() && self.is_of_caller();
        Claim { user, takes_over }
    }
}
