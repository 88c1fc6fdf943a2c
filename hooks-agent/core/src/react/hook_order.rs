//! Refuses calls whose hooks ask for others that the agent does not have.

use std::sync::Arc;

use hooks_core::{HookOptions, HookOrder, Hookable, OrderFault};

use crate::agent::AgentReplyArgs;
use crate::error::BuildError;
use crate::hook::{HookList, class_hooks_ask, missing_of_class};
use crate::react::agent::ReActAgent;

impl ReActAgent {
    /// Returns the agent, if its own hooks can run in the order that they ask for. What a source will choose is not known
    /// yet: such an agent may ask for it.
    ///
    /// # Errors
    /// [`BuildError::Misordered`].
    pub(super) fn in_order(self) -> Result<Self, BuildError> {
        if !self.event_hooks.is_ordered() {
            return Ok(self);
        }
        let faults = Hookable::hook_plan(&self).order_faults();
        let has_sources = !self.core.sources.is_empty();
        let own = || self.event_hooks.lock().missing(self.has_hook());
        let missing = if has_sources { None } else { own() };
        let fault = faults.into_iter().map(|(_, fault)| fault).next().or(missing);
        match fault {
            None => Ok(self),
            Some(fault) => {
                Err(BuildError::Misordered { agent: self.core.state.name().to_owned(), fault })
            }
        }
    }

    /// Returns the agent that refuses a call with these hooks, if one of them asks for another one that is not there.
    pub(super) fn refusing(&self, inherited: &HookList) -> Option<Arc<Self>> {
        if !self.event_hooks.is_ordered() && !inherited.is_ordered() && !class_hooks_ask() {
            return None;
        }
        let has = self.has_hook();
        let own = self.event_hooks.lock().clone();
        let fault = own.missing(&has).or_else(|| inherited.missing(&has));
        let fault = fault.or_else(|| missing_of_class::<Self>(&has))?;
        let OrderFault::Missing { hook, relation, name, .. } = fault else { return None };
        let agent = self.fork();
        // The call is refused for this hook, which asks for the same: before any hook has run.
        let options = HookOptions::named(hook).order(HookOrder::new().with(relation, name));
        agent.register_instance_hook(Self::PRE_REPLY, options, |_: &Self, _: &AgentReplyArgs| {});
        Some(Arc::new(agent))
    }

    /// Returns whether a hook is there, by name: an event hook or one of a method, on any level.
    fn has_hook(&self) -> impl Fn(&str) -> bool {
        let plan = Hookable::hook_plan(self);
        move |name| plan.hooks().iter().any(|hook| hook.name() == name)
    }
}
