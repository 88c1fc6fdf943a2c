//! Whose the thread of a call is.

use crate::call::context::CallContext;
use crate::memory::{Claim, Memory};
use crate::store::{StoreError, ThreadKey};

impl CallContext {
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
