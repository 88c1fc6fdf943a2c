//! The hooks of agent builders, and how they are registered.

use std::collections::HashSet;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use hooks_core::{HookOptions, Hookable};

use crate::agent::Agent;
use crate::event::EventMask;
use crate::hook::{AgentHook, install_call};
use crate::tool::Tool;

/// An agent at whose methods event hooks can be registered.
pub(crate) trait EventPoints: Agent {
    /// Registers a hook at the methods of its events.
    fn install<H: AgentHook>(&self, hook: &Arc<H>, place: &Place);
}

/// The registration of a hook; its methods are called once.
pub(crate) struct Place {
    pub(crate) name: Arc<str>,
    priority: i32,
    pub(crate) events: EventMask,
    pub(crate) sync_events: EventMask,
    /// The source location where the user added the hook.
    location: &'static Location<'static>,
}

/// The hooks of an agent builder, in the order in which they were added.
pub(crate) struct HookList<A: ?Sized>(Vec<Arc<dyn Installable<A>>>);

trait Installable<A: ?Sized>: Send + Sync {
    fn name(&self) -> String;
    fn install(&self, agent: &A, name: String);
    fn tools(&self) -> Vec<Arc<dyn Tool>>;
    fn inherit(&self) -> bool;
}

/// A hook of known type, so that each call of it is boxed only once.
struct Kept<H>(Arc<H>, &'static Location<'static>);

impl Place {
    pub(crate) fn of<H: AgentHook>(
        hook: &H,
        name: String,
        location: &'static Location<'static>,
    ) -> Self {
        let (priority, events, sync_events) = (hook.priority(), hook.events(), hook.sync_events());
        Self { name: name.into(), priority, events, sync_events, location }
    }

    /// Returns the options of the registration.
    pub(crate) fn options(&self) -> HookOptions {
        let options = HookOptions::named(self.name.clone()).priority(self.priority);
        options.registered_at(self.location)
    }
}

impl<A: EventPoints + ?Sized, H: AgentHook> Installable<A> for Kept<H> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn install(&self, agent: &A, name: String) {
        agent.install(&self.0, &Place::of(&*self.0, name, self.1));
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.tools()
    }

    fn inherit(&self) -> bool {
        self.0.inherit()
    }
}

impl<A: EventPoints + ?Sized> HookList<A> {
    #[track_caller]
    pub(crate) fn add(&mut self, hook: impl AgentHook) {
        self.0.push(Arc::new(Kept(Arc::new(hook), Location::caller())));
    }

    /// Registers the hooks. If names repeat, the later hooks get a number.
    pub(crate) fn install(&self, agent: &A) {
        if self.0.is_empty() {
            return;
        }
        let plan = agent.hook_plan();
        let mut names: HashSet<String> =
            plan.hooks().iter().map(|hook| hook.name().to_owned()).collect();
        for hook in &self.0 {
            let name = hook.name();
            let numbered = (2..).map(|number| format!("{name} ({number})"));
            let mut free = std::iter::once(name.clone()).chain(numbered);
            if let Some(name) = free.find(|name| names.insert(name.clone())) {
                hook.install(agent, name);
            }
        }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.0.iter().flat_map(|hook| hook.tools())
    }

    /// Returns the hooks that also run in agents that are tools of this one.
    pub(crate) fn inherited(&self) -> Self {
        Self(self.0.iter().filter(|hook| hook.inherit()).cloned().collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<A: ?Sized> Clone for HookList<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ?Sized> Default for HookList<A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<A: EventPoints + ?Sized> fmt::Debug for HookList<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|hook| hook.name())).finish()
    }
}

/// Registers an event hook at an agent of any kind, for the events that all agents have: `PreCall`,
/// `PostCall`, `ErrorEvent` and `Settled`.
///
/// The hook receives no other events. It runs after the hooks of the agent's own type. To remove
/// it, remove its name from each of `pre_reply`, `post_reply`, `error_reply` and `pre_settled`.
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
    let place = Place::of(&hook, hook.name(), Location::caller());
    agent.install(&Arc::new(hook), &place);
}

impl EventPoints for dyn Agent {
    fn install<H: AgentHook>(&self, hook: &Arc<H>, place: &Place) {
        install_call!(dyn Agent, self, hook, place, tells_inside: false);
    }
}
