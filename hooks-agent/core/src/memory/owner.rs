//! The user of a thread.

use std::sync::Arc;

use crate::memory::conversation::Memory;

/// How a call names the user of its thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claim {
    /// The user, if the call names one.
    pub(crate) user: Option<Arc<str>>,
    /// Whether the call may make the thread of another user one of its own.
    pub(crate) takes_over: bool,
}

impl Claim {
    /// Returns whether the call may use a thread of this user.
    pub(crate) fn allows(&self, owner: Option<&str>) -> bool {
        let Some((user, owner)) = self.user.as_deref().zip(owner) else { return true };
        user == owner || self.takes_over
    }
}

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
        self.lock().user = user;
    }

    /// Makes the thread one of the user of a call. Returns whether the call may use it.
    pub(crate) fn claim(&self, claim: &Claim) -> bool {
        let mut conversation = self.lock();
        let is_allowed = claim.allows(conversation.user.as_deref());
        if is_allowed && let Some(user) = &claim.user {
            conversation.user = Some(user.clone());
        }
        is_allowed
    }
}
