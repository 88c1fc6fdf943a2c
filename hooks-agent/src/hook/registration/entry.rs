//! How event hooks are registered at the methods of an agent.

use std::panic::Location;
use std::sync::Arc;

use hooks_core::plan::PlannedHook;
use hooks_core::{HookGroup, HookOptions, HookRole, Hookable, Level, RegistryError};

use crate::agent::Agent;
use crate::call::Door;
use crate::event::{EventKind, EventMask};
use crate::hook::{AgentHook, AroundMask, Target};
use crate::near_name::near_name;

/// The label of the groups of event hooks.
const LABEL: &str = "event hook";

/// An agent at whose methods event hooks can be registered.
#[diagnostic::on_unimplemented(
    message = "event hooks cannot be registered for all agents of type `{Self}`",
    note = "write `class` for every `ReActAgent`, or `class = dyn Agent` for agents of every type"
)]
pub(crate) trait EventPoints: Agent + 'static {
    /// Registers a hook at the methods of its events.
    fn install<H: AgentHook>(
        target: &impl Target<Self>,
        hook: &Arc<H>,
        registration: &Registration,
    );
}

/// What a hook is registered with at each method; the methods of the hook are called once.
pub(crate) struct Registration {
    pub(crate) name: Arc<str>,
    pub(crate) group: HookGroup,
    pub(crate) priority: i32,
    always: bool,
    pub(crate) role: Option<HookRole>,
    /// Whether it does not receive what a call replays.
    pub(crate) is_once: bool,
    pub(crate) events: EventMask,
    pub(crate) sync_events: EventMask,
    answers: EventMask,
    /// What is wrong with the settings, for plans.
    warnings: Arc<[String]>,
    pub(crate) around: AroundMask,
    /// The source location where the user added the hook.
    location: &'static Location<'static>,
}

/// The events and calls at which hooks are registered.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) events: EventMask,
    /// The calls that a hook of a role runs around.
    pub(crate) around: fn(Option<HookRole>) -> AroundMask,
}

impl Registration {
    pub(crate) fn of(
        hook: &impl AgentHook,
        group: HookGroup,
        location: &'static Location<'static>,
    ) -> Self {
        let (name, priority) = (hook.name().into(), hook.priority());
        let (events, sync_events) = (hook.events(), hook.sync_events());
        let (around, answers) = (hook.around(), hook.answers());
        let (always, role, is_once) = (hook.always(), hook.role(), hook.once());
        Self {
            name,
            group,
            priority,
            always,
            role,
            is_once,
            events,
            sync_events,
            answers,
            warnings: Arc::default(),
            around,
            location,
        }
    }

    /// Returns the registration with a warning for each tool that the settings of the hook name and the
    /// agent does not have, and for what is lost with the process although the threads are not. Tools
    /// of sub-agents count for a hook that they inherit.
    pub(crate) fn checked(self, hook: &impl AgentHook, agent: &(impl Agent + ?Sized)) -> Self {
        let names = hook.tool_names();
        let known = if names.is_empty() { None } else { agent.tool_names(hook.inherit()) };
        let known = known.unwrap_or_else(|| names.clone());
        let is_known = |name: &String| {
            known.contains(name) || Door::ALL.iter().any(|door| door.tool() == name)
        };
        let unknown = names.iter().filter(|name| !is_known(name));
        let unknown = unknown.map(|name| unknown_tool(name, &known));
        let lost = hook.ends_with_process().filter(|_| agent.is_stored());
        Self { warnings: unknown.chain(lost).collect(), ..self }
    }

    /// Returns the registration at these events and calls alone.
    pub(crate) fn within(self, scope: &Scope) -> Self {
        let events = self.events.intersection(scope.events);
        let sync_events = self.sync_events.intersection(scope.events);
        let around = self.around.intersection((scope.around)(self.role));
        Self { events, sync_events, around, ..self }
    }

    /// Returns the options for the method of an event.
    pub(crate) fn options_at(&self, kind: EventKind) -> HookOptions {
        self.options().answers(self.answers.contains(kind))
    }

    /// Returns the options for one method.
    pub(crate) fn options(&self) -> HookOptions {
        let options = HookOptions::named(self.name.clone()).priority(self.priority);
        let options = options.group(self.group).role(self.role).registered_at(self.location);
        let options = options.warnings(self.warnings.clone());
        if self.always { options.always() } else { options }
    }
}

/// Returns what a plan says of a tool that an agent does not have.
fn unknown_tool(name: &str, known: &[String]) -> String {
    let near = near_name(name, known.iter().map(String::as_str));
    match near {
        Some(near) => format!("the agent has no tool `{name}`: did you mean `{near}`?"),
        None => format!(
            "the agent has no tool `{name}`: name one of its tools, unless it is one of a front end"
        ),
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
    RegistryError::not_found(name, <dyn Agent>::PRE_REPLY, agent.name(), Level::Instance)
}
