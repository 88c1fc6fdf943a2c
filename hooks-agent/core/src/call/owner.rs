//! Whose hook runs in a call, and where it counts.

use std::borrow::Cow;
use std::sync::Arc;

use hooks_core::HookGroup;

use crate::call::context::CallContext;

/// Whose hook runs, if not one of the agent of the call.
pub(crate) enum HookOwner {
    /// The caller that the agent inherits it from.
    Caller { id: Arc<str>, name: Arc<str> },
    /// All agents of a type.
    Class,
}

/// A thread value in which a hook counts.
#[derive(Clone)]
pub(crate) struct CounterClaim {
    /// The id of the agent whose hook it is.
    owner: Arc<str>,
    counter: Arc<str>,
    pub(crate) group: HookGroup,
    pub(crate) hook: Arc<str>,
}

impl HookOwner {
    pub(crate) fn of(caller: &CallContext) -> Self {
        let (id, name) = (caller.call.agent_id.clone(), caller.call.agent_name.clone());
        Self::Caller { id, name }
    }
}

impl CallContext {
    /// Returns the outermost call of the agent whose hook this context was given to, of those that this call
    /// is part of: this call, or a call of an agent that inherited the hook to this one; for a hook of all
    /// agents of a type, the [outermost](Self::outermost). For a hook with a
    /// [counter](crate::hook::AgentHook::counter) that counts calls of sub-agents where its agent counts.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// let cx = CallContext::default();
    /// assert_eq!(cx.owner_call().run_id(), cx.run_id());
    /// assert_eq!(cx.counter_name("calls"), "calls");
    /// ```
    #[must_use]
    pub fn owner_call(&self) -> &CallContext {
        let id = match self.owner.as_deref() {
            None => &self.call.agent_id,
            Some(HookOwner::Caller { id, .. }) => id,
            Some(HookOwner::Class) => return self.outermost(),
        };
        let calls = std::iter::successors(Some(self), |call| call.parent());
        calls.filter(|call| call.call.agent_id == *id).last().unwrap_or(self)
    }

    /// Returns the name of the value in the thread of this call in which a hook counts, from its
    /// [counter](crate::hook::AgentHook::counter): with the name of the agent that it is inherited from, so
    /// that this agent and its callers count apart.
    #[must_use]
    pub fn counter_name<'a>(&self, counter: &'a str) -> Cow<'a, str> {
        match self.owner.as_deref() {
            Some(HookOwner::Caller { id, name }) if *id != self.call.agent_id => {
                format!("{counter}@{name}").into()
            }
            _ => counter.into(),
        }
    }

    /// Returns the same context for a hook of this owner.
    pub(crate) fn owned_by(&self, owner: &Arc<HookOwner>) -> Self {
        Self { owner: Some(owner.clone()), ..self.clone() }
    }

    /// Notes that the hook which the context was given to counts in this thread value. Fails with the hook
    /// of the same agent that does already.
    pub(crate) fn claim_counter(
        &self,
        counter: &Arc<str>,
        group: HookGroup,
        hook: &Arc<str>,
    ) -> Result<(), CounterClaim> {
        let owner = match self.owner.as_deref() {
            Some(HookOwner::Caller { id, .. }) => id,
            _ => &self.call.agent_id,
        };
        let claims = &mut self.state().claims;
        let known = claims.iter().find(|claim| claim.owner == *owner && claim.counter == *counter);
        match known {
            Some(claim) if claim.group == group => Ok(()),
            Some(claim) => Err(claim.clone()),
            None => {
                let (owner, counter, hook) = (owner.clone(), counter.clone(), hook.clone());
                claims.push(CounterClaim { owner, counter, group, hook });
                Ok(())
            }
        }
    }

    /// Notes that a hook counts in place of another one, which it replaced.
    pub(crate) fn replace_claim(&self, of: &CounterClaim, group: HookGroup, hook: &Arc<str>) {
        let claims = &mut self.state().claims;
        let known = claims.iter_mut().find(|it| it.owner == of.owner && it.counter == of.counter);
        if let Some(claim) = known {
            (claim.group, claim.hook) = (group, hook.clone());
        }
    }
}
