//! The user of a thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::memory::conversation::Memory;
use crate::store::Claim;

impl Memory {
    /// Returns the [user](crate::call::CallOptions::user) of the thread, if a call named one.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// agent.call_with(CallOptions::new().thread("7").user("ada"), "Go").await?;
    /// let memory = agent.threads().memory("7").expect("the call began the thread");
    /// assert_eq!(memory.user().as_deref(), Some("ada"));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn user(&self) -> Option<Arc<str>> {
        self.lock().user.clone()
    }

    /// Sets the user of the thread.
    pub(crate) fn set_user(&self, user: Option<Arc<str>>) {
        self.has_owner.store(user.is_some(), Ordering::Release);
        self.lock().user = user;
    }

    /// Makes the thread one of the user of a call. Returns whether the call may use it.
    pub(crate) fn claim(&self, claim: &Claim) -> bool {
        let is_new = claim.user.is_some() && self.is_unused();
        let mut conversation = self.lock();
        let is_allowed = claim.allows(conversation.user.as_deref(), is_new);
        if is_allowed && let Some(user) = &claim.user {
            conversation.user = Some(user.clone());
            self.has_owner.store(true, Ordering::Release);
        }
        is_allowed
    }

    /// Returns whether a call may use the thread.
    pub(crate) fn allows(&self, claim: &Claim) -> bool {
        claim.allows(self.user().as_deref(), self.is_unused())
    }

    /// Returns whether the thread may have a user.
    pub(crate) fn may_have_owner(&self) -> bool {
        self.has_owner.load(Ordering::Acquire)
    }
}
