//! The user of a call, and whose its thread is.

use std::sync::Arc;

use crate::call::context::CallContext;
use crate::error::AgentError;
use crate::identity::{User, Users};
use crate::memory::Memory;
use crate::store::{Claim, StoreError, ThreadKey};

impl CallContext {
    /// Returns the id of the user of the call: whom the caller [named](crate::call::CallOptions::user), the user
    /// of the call that this one is part of, or the user of the thread that the call goes on with.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.identity().map(User::id)
    }

    /// Returns the user of the call, with roles and attributes.
    ///
    /// ```
    /// use hooks_agent::call::User;
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let only_admins = on(|event: &mut PreActing<'_>| {
    ///     let user = event.context().identity();
    ///     match user.is_some_and(|user| user.has_role("admin")) {
    ///         true => Flow::Continue,
    ///         false => event.refuse("only administrators may do this"),
    ///     }
    /// });
    /// # let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(only_admins).build()?;
    /// let ada = User::new("ada").with_role("admin");
    /// agent.call_with(CallOptions::new().user(ada), "Restart it").await?;
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn identity(&self) -> Option<&User> {
        self.call.identity.get().or(self.call.user.as_ref())
    }

    /// Returns the user whom the caller has named for this call, and not only the owner of its thread.
    pub(crate) fn signed_in(&self) -> Option<&User> {
        if self.call.user.is_some() {
            return self.identity();
        }
        // A call that is part of another is made for its user.
        self.parent()?.signed_in()
    }

    /// Finds out who the user of the call is: whom the caller named, or the owner of the thread.
    ///
    /// # Errors
    /// [`AgentError::User`] if the program does not know.
    pub(crate) async fn identify(
        &self,
        users: Option<&Users>,
        owner: Option<Arc<str>>,
    ) -> Result<(), AgentError> {
        if self.call.identity.get().is_some() {
            return Ok(());
        }
        let Some(named) = self.call.user.clone().or_else(|| owner.map(User::unverified)) else {
            return Ok(());
        };
        let id = named.shared_id();
        let found = match users {
            Some(users) => users(named).await.map_err(AgentError::User)?,
            None => named,
        };
        if *found.id() != *id {
            let reason =
                "the function that finds users returned another user than the one asked for";
            return Err(AgentError::User(reason.into()));
        }
        let _ = self.call.identity.set(found);
        Ok(())
    }

    /// Makes a thread in memory one of the user of the call.
    pub(crate) fn claim_thread(&self, memory: &Memory, has_input: bool) -> Result<(), StoreError> {
        if memory.claim(&self.claim(has_input)) { Ok(()) } else { Err(self.other_user()?) }
    }

    /// Checks that the call may say something on a thread in memory.
    pub(crate) fn check_thread(&self, memory: &Memory) -> Result<(), StoreError> {
        let is_allowed = memory.allows(&self.claim(true));
        if is_allowed { Ok(()) } else { Err(self.other_user()?) }
    }

    fn other_user(&self) -> Result<StoreError, StoreError> {
        let thread = ThreadKey::new(self.call.agent_name.clone(), self.thread_id())?;
        Ok(StoreError::OtherUser { thread })
    }

    /// Returns how the call names the user of its thread.
    pub(crate) fn claim(&self, has_input: bool) -> Claim {
        // An empty name is nobody's.
        let user = self.identity().map(User::shared_id).filter(|user| !user.is_empty());
        // Who may use a thread may use those of its sub-agents.
        let takes_over = self.call.takes_over || self.is_of_caller();
        Claim { user, takes_over, has_input }
    }
}
