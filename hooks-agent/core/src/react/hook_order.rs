//! Refuses calls whose hooks cannot run in the order that they ask for.

use std::sync::Arc;

use hooks_core::{HookOptions, HookOrder, HookPlan, Hookable, OrderFault};

use crate::agent::AgentReplyArgs;
use crate::error::BuildError;
use crate::hook::{
    HookList, class_hook_changes, class_hooks_ask, has_class_hook, missing_of_class,
};
use crate::react::agent::ReActAgent;
use crate::react::methods::ReActAgentWholeCallArgs;

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
        let has_sources = !self.core.sources.is_empty();
        let may_come =
            |fault: &OrderFault| has_sources && matches!(fault, OrderFault::Missing { .. });
        match self.order_fault(&HookList::default()).filter(|fault| !may_come(fault)) {
            None => Ok(self),
            Some(fault) => {
                Err(BuildError::Misordered { agent: self.core.state.name().to_owned(), fault })
            }
        }
    }

    /// Returns a hook that cannot run beside the others, and why.
    pub(super) fn conflict(&self) -> Option<(String, String)> {
        let own = self.event_hooks.lock().clone();
        self.conflict_of(&own)
    }

    fn conflict_of(&self, hooks: &HookList) -> Option<(String, String)> {
        hooks.conflict(|| Hookable::hook_plan(self))
    }

    /// Returns the agent that refuses a call with these hooks, if they cannot run in the order that they ask for, or
    /// beside each other.
    pub(super) fn refusing(&self, inherited: &HookList) -> Option<Arc<Self>> {
        let has_checks = self.event_hooks.has_checks() || inherited.has_checks();
        let is_ordered =
            self.event_hooks.is_ordered() || inherited.is_ordered() || class_hooks_ask();
        if !has_checks && !is_ordered {
            return None;
        }
        // Looked at before what is looked at: a change in between is looked at by the next call.
        let seen = (self.hooks_version(), class_hook_changes());
        if inherited.is_empty() && *self.event_hooks.in_order() == Some(seen) {
            return None;
        }
        let fault = is_ordered.then(|| self.order_fault(inherited)).flatten();
        let fault = fault.or_else(|| {
            let (hook, why) = self.conflict().or_else(|| self.conflict_of(inherited))?;
            Some(OrderFault::conflict(hook, why))
        });
        let Some(fault) = fault else {
            if inherited.is_empty() {
                *self.event_hooks.in_order() = Some(seen);
            }
            return None;
        };
        let agent = self.fork();
        // The call is refused for this hook, before any hook has run.
        let is_conflict = matches!(fault, OrderFault::Conflict { .. });
        let options = HookOptions::named("order").order(HookOrder::new().with_fault(fault));
        if is_conflict {
            let nothing = |_: &Self, _: &ReActAgentWholeCallArgs| {};
            agent.register_instance_hook(Self::PRE_WHOLE_CALL, options, nothing);
        } else {
            let nothing = |_: &Self, _: &AgentReplyArgs| {};
            agent.register_instance_hook(Self::PRE_REPLY, options, nothing);
        }
        Some(Arc::new(agent))
    }

    /// Returns a plan of this agent with a warning for each hook that asks for one that is not there.
    pub(super) fn warn_of_missing(&self, plan: HookPlan) -> HookPlan {
        if !self.event_hooks.is_ordered() {
            return plan;
        }
        let own = self.event_hooks.lock().clone();
        let faults = own.missing(self.has_hook(&plan, &HookList::default()));
        plan.with_warnings(|planned| {
            let own = faults.iter().filter(
                |fault| matches!(fault, OrderFault::Missing { hook, .. } if hook == planned.name()),
            );
            own.map(|fault| format!("calls fail: {fault}")).collect()
        })
    }

    /// Returns why the hooks of a call cannot run.
    fn order_fault(&self, inherited: &HookList) -> Option<OrderFault> {
        let plan = Hookable::hook_plan(self);
        if let Some((_, fault)) = plan.order_faults().into_iter().next() {
            return Some(fault);
        }
        let has = self.has_hook(&plan, inherited);
        let own = self.event_hooks.lock().clone();
        let missing = own.missing(&has).into_iter().chain(inherited.missing(&has)).next();
        missing.or_else(|| missing_of_class::<Self>(&has))
    }

    /// Returns whether a hook is there, by name: an event hook or one of a method, on any level.
    fn has_hook<'h>(
        &self,
        plan: &'h HookPlan,
        inherited: &'h HookList,
    ) -> impl Fn(&str) -> bool + use<'h> {
        let own = self.event_hooks.lock().clone();
        move |name| {
            plan.hooks().iter().any(|hook| hook.name() == name)
                || own.has_named(name)
                || inherited.has_named(name)
                || has_class_hook::<Self>(name)
        }
    }
}
