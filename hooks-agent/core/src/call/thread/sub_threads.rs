//! The thread of a call that is part of another belongs to the thread of that one.

use std::iter::successors;
use std::sync::Arc;

use crate::call::context::CallContext;
use crate::error::AgentError;
use crate::memory::Memory;
use crate::store::{StoreError, ThreadKey};

impl CallContext {
    /// Returns the call that the thread of this one belongs to, with its memory: the nearest one above
    /// that has a thread.
    fn caller(&self) -> Option<(&CallContext, Arc<Memory>)> {
        let mut above = successors(self.parent(), |caller| caller.parent());
        above.find_map(|caller| Some((caller, caller.memory()?)))
    }

    /// Returns the name of the thread in a store, if it can be in one.
    fn key(&self) -> Option<ThreadKey> {
        ThreadKey::new(self.call.agent_name.clone(), self.thread_id()).ok()
    }

    /// Returns whether the thread is known to belong to that of the caller.
    pub(super) fn is_of_caller(&self) -> bool {
        let Some((_, memory)) = self.caller() else { return false };
        self.key().is_some_and(|key| memory.sub_threads().contains(&key))
    }

    /// Notes that the thread belongs to that of the caller, in the store of the caller too, so that it is
    /// forgotten and exported with it. To be called before anything is written to the thread, and after
    /// it is known that the user of the caller may use it.
    pub(crate) async fn join_caller(&self) -> Result<(), AgentError> {
        let Some((caller, memory)) = self.caller() else { return Ok(()) };
        let Some(key) = self.key() else { return Ok(()) };
        memory.add_sub_thread(key).map_err(AgentError::other)?;
        match caller.commit_values().await {
            // The caller has ended: its next step writes it.
            Err(StoreError::LeaseLost { .. }) => Ok(()),
            committed => Ok(committed?),
        }
    }
}
