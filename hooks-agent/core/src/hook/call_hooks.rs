//! Event hooks of agents of any type, for the events that all agents have.

use std::panic::Location;
use std::sync::Arc;

use hooks_core::{HookPlan, Hookable, RegistryError};

use crate::agent::Agent;
use crate::hook::agent_hook::AgentHook;
use crate::hook::boxed::DynAgentHook;
use crate::hook::registration::{
    EventPoints, Instance, Registration, Target, install_call, new_group, not_found,
    register_class, remove_by_name, remove_class, warn_of_class,
};

/// Registers event hooks at an agent of any type, for the events that all agents have: `PreCall`,
/// `PostCall`, `ErrorEvent` and `Settled`. Implemented for every agent and for `dyn Agent`.
///
/// For all events of a [`ReActAgent`](crate::react::ReActAgent), add the hook to its builder, or use
/// its [`register_agent_hook`](crate::react::ReActAgent::register_agent_hook).
///
/// ```
/// use hooks_agent::prelude::*;
///
/// fn sign(agent: &dyn Agent) {
///     agent.register_call_hook(on(|event: &mut PostCall<'_>| {
///         event.final_message_mut().push_text(" - signed");
///     }));
/// }
/// ```
pub trait CallHooks: Agent {
    /// Adds an event hook. It receives no other events, and runs after the hooks of the agent's own
    /// type. Names that it is to stand [before](crate::hook::AgentHookExt::before) or after are those of hooks of
    /// the agent as such, at the same event.
    #[track_caller]
    fn register_call_hook(&self, hook: impl AgentHook);

    /// Removes the event hooks of this name.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is none.
    fn remove_call_hook(&self, name: &str) -> Result<(), RegistryError>;
}

impl<A: Agent> CallHooks for A {
    fn register_call_hook(&self, hook: impl AgentHook) {
        CallHooks::register_call_hook(self as &dyn Agent, hook);
    }

    fn remove_call_hook(&self, name: &str) -> Result<(), RegistryError> {
        CallHooks::remove_call_hook(self as &dyn Agent, name)
    }
}

impl CallHooks for dyn Agent {
    fn register_call_hook(&self, hook: impl AgentHook) {
        let hook = hook.__share();
        let registration = Registration::of(&*hook, new_group(), Location::caller());
        let registration = registration.checked(&*hook, self);
        <dyn Agent>::install(&Instance(self), &hook, &registration);
    }

    fn remove_call_hook(&self, name: &str) -> Result<(), RegistryError> {
        if remove_by_name(self, name) > 0 { Ok(()) } else { Err(not_found(self, name)) }
    }
}

impl dyn Agent {
    /// Adds an event hook to every agent of the process, of any type, for the events that all agents
    /// have: `PreCall`, `PostCall`, `ErrorEvent` and `Settled`. It runs after all other hooks.
    ///
    /// A class hook of the same name is removed once the new one is registered.
    /// [`#[agent_hook(class = dyn Agent)]`](macro@crate::agent_hook) does it when the program is
    /// linked.
    ///
    /// ```standalone_crate
    /// use hooks_agent::prelude::*;
    ///
    /// <dyn Agent>::register_class_agent_hook(on(|event: &mut Settled<'_>| {
    ///     println!("{}: {}", event.agent().name(), event.outcome());
    /// }));
    /// ```
    #[track_caller]
    pub fn register_class_agent_hook(hook: impl AgentHook) {
        register_class::<Self>(&hook.__share());
    }

    /// Removes the class hook of this name.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is none.
    pub fn remove_class_agent_hook(name: &str) -> Result<(), RegistryError> {
        remove_class::<Self>(name)
    }

    /// Returns what runs at every hook type of the agent, in order, as
    /// [`Hookable::hook_plan`] does, with what is wrong with class hooks for this agent.
    #[must_use]
    pub fn hook_plan(&self) -> HookPlan {
        warn_of_class(Hookable::hook_plan(self), self)
    }
}

#[diagnostic::do_not_recommend]
impl EventPoints for dyn Agent {
    fn install(
        target: &impl Target<Self>,
        hook: &Arc<dyn DynAgentHook>,
        registration: &Registration,
    ) {
        install_call!(dyn Agent, target, hook, registration, knows_phases: false);
    }
}
