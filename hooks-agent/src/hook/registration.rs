//! How event hooks are registered at the methods of an agent.

use std::panic::Location;
use std::sync::Arc;

use hooks_core::plan::PlannedHook;
use hooks_core::{HookGroup, HookOptions, Hookable, RegistryError};

use crate::agent::Agent;
use crate::event::EventMask;
use crate::hook::{AgentHook, install_call};

/// The label of the groups of event hooks.
const LABEL: &str = "event hook";

/// An agent at whose methods event hooks can be registered.
pub(crate) trait EventPoints: Agent {
    /// Registers a hook at the methods of its events.
    fn install<H: AgentHook>(&self, hook: &Arc<H>, registration: &Registration);
}

/// What a hook is registered with at each method; the methods of the hook are called once.
pub(crate) struct Registration {
    name: Arc<str>,
    group: HookGroup,
    priority: i32,
    pub(crate) events: EventMask,
    pub(crate) sync_events: EventMask,
    /// The source location where the user added the hook.
    location: &'static Location<'static>,
}

impl Registration {
    pub(crate) fn of(
        hook: &impl AgentHook,
        group: HookGroup,
        location: &'static Location<'static>,
    ) -> Self {
        let (name, priority) = (hook.name().into(), hook.priority());
        let (events, sync_events) = (hook.events(), hook.sync_events());
        Self { name, group, priority, events, sync_events, location }
    }

    /// Returns the options for one method.
    pub(crate) fn options(&self) -> HookOptions {
        let options = HookOptions::named(self.name.clone()).priority(self.priority);
        options.group(self.group).registered_at(self.location)
    }
}

/// Creates the group of an event hook: its registrations at several methods.
pub(crate) fn new_group() -> HookGroup {
    HookGroup::new(LABEL)
}

/// Removes the event hooks of this name; returns how many there were.
pub(crate) fn remove_by_name(agent: &(impl Hookable + ?Sized), name: &str) -> usize {
    let plan = agent.hook_plan();
    let named = plan.hooks().iter().filter(|hook| hook.name() == name);
    let groups = named.filter_map(PlannedHook::group).filter(|group| group.label() == LABEL);
    groups.filter(|group| agent.remove_instance_group(*group) > 0).count()
}

/// The error of an event hook that an agent does not have. It names the first hook type of a call.
pub(crate) fn not_found<A: Agent + ?Sized>(agent: &A, name: &str) -> RegistryError {
    RegistryError::not_found(name, <dyn Agent>::PRE_REPLY, agent.name())
}

/// Registers an event hook at an agent of any kind, for the events that all agents have: `PreCall`,
/// `PostCall`, `ErrorEvent` and `Settled`.
///
/// The hook receives no other events. It runs after the hooks of the agent's own type.
/// [`remove_call_hook`] removes it.
///
/// For all events of an agent, add the hook to its builder, or use
/// [`ReActAgent::register_agent_hook`](crate::ReActAgent::register_agent_hook).
///
/// ```
/// use hooks_agent::{Agent, AgentHook, Flow, HookEvent, register_call_hook};
/// use hooks_core::HookResult;
///
/// struct Sign;
///
/// impl AgentHook for Sign {
///     async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
///         if let HookEvent::PostCall(event) = event {
///             event.final_message_mut().push_text(" - signed");
///         }
///         Ok(Flow::Continue)
///     }
/// }
///
/// fn sign(agent: &dyn Agent) {
///     register_call_hook(agent, Sign);
/// }
/// ```
#[track_caller]
pub fn register_call_hook(agent: &dyn Agent, hook: impl AgentHook) {
    let registration = Registration::of(&hook, new_group(), Location::caller());
    agent.install(&Arc::new(hook), &registration);
}

/// Removes the event hooks of this name from an agent of any kind.
///
/// # Errors
/// [`RegistryError::NotFound`] if there is none.
pub fn remove_call_hook(agent: &dyn Agent, name: &str) -> Result<(), RegistryError> {
    if remove_by_name(agent, name) > 0 { Ok(()) } else { Err(not_found(agent, name)) }
}

impl EventPoints for dyn Agent {
    fn install<H: AgentHook>(&self, hook: &Arc<H>, registration: &Registration) {
        install_call!(dyn Agent, self, hook, registration, knows_phases: false);
    }
}
