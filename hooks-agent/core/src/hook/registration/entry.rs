//! Registers event hooks at the methods of an agent.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;

use hooks_core::plan::PlannedHook;
use hooks_core::{HookGroup, HookOptions, HookOrder, HookRole, Hookable, Level, RegistryError};

use crate::agent::Agent;
use crate::call::HookOwner;
use crate::event::{EventKind, EventMask};
use crate::hook::around::AroundMask;
use crate::hook::boxed::DynAgentHook;
use crate::hook::registration::settings::Settings;
use crate::hook::registration::target::Target;

/// The events of methods that cannot fail.
const CANNOT_FAIL: EventMask = EventMask::of(&[
    EventKind::ReasoningChunk,
    EventKind::ActingChunk,
    EventKind::SummaryChunk,
    EventKind::Settled,
]);

/// The label of the groups of event hooks.
const LABEL: &str = "event hook";

/// An agent at whose methods event hooks can be registered.
#[diagnostic::on_unimplemented(
    message = "event hooks cannot be registered for all agents of type `{Self}`",
    note = "write `class` for every `ReActAgent`, or `class = dyn Agent` for agents of every type"
)]
pub(crate) trait EventPoints: Agent + 'static {
    /// Registers a hook at the methods of its events.
    fn install(
        target: &impl Target<Self>,
        hook: &Arc<dyn DynAgentHook>,
        registration: &Registration,
    );
}

/// What a hook is registered with at each method; the methods of the hook are called once.
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
pub(crate) struct Registration {
    pub(crate) name: Arc<str>,
    pub(crate) group: HookGroup,
    pub(crate) priority: i32,
    order: HookOrder,
    pub(crate) always: bool,
    /// Whether it runs at once with others.
    pub(crate) is_parallel: bool,
    /// Whether it is in shadow.
    looks_on: bool,
    pub(crate) role: Option<HookRole>,
    /// Whether it does not receive what a call replays.
    pub(crate) is_once: bool,
    pub(crate) events: EventMask,
    pub(crate) sync_events: EventMask,
    answers: EventMask,
    answers_around: AroundMask,
    /// What is wrong with the settings, for plans.
    warnings: Arc<[String]>,
    pub(crate) around: AroundMask,
    /// The name of the thread value in which the hook counts.
    pub(crate) counter: Option<Arc<str>>,
    /// The agent that the hook is inherited from.
    pub(crate) owner: Option<Arc<HookOwner>>,
    /// The agent that the hook is inherited from.
    pub(crate) inherited_from: Option<Arc<str>>,
    site: Site,
}

/// Where the user added a hook: a line of source, or of a file that chooses hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    file: Cow<'static, str>,
    line: u32,
}

/// The events and calls at which hooks are registered.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) events: EventMask,
    /// The calls that a hook of a role runs around.
    pub(crate) around: fn(Option<HookRole>) -> AroundMask,
}

impl Registration {
    pub(crate) fn of(hook: &dyn DynAgentHook, group: HookGroup, site: impl Into<Site>) -> Self {
        let (name, priority, order) = (hook.name().into(), hook.priority(), hook.order());
        let (mut events, sync_events) = (hook.events(), hook.sync_events());
        let mut around = hook.around();
        let looks_on = hook.__shadow().is_some();
        if let Some(why) = hook.not_in_shadow().filter(|_| looks_on) {
            // An agent with such a hook is not built; one that was may be given it.
            tracing::error!(target: "hooks_agent::shadow", hook = hook.name(), why, "a hook cannot run in shadow");
            (events, around) = (EventMask::NONE, AroundMask::NONE);
        }
        let (answers, answers_around) = (hook.answers(), hook.answers_around());
        let (always, role, is_once) = (hook.always(), hook.role(), hook.once());
        let mut is_parallel = hook.is_parallel() && !looks_on;
        if let Some(why) = hook.not_parallel().filter(|_| is_parallel) {
            // As above.
            tracing::error!(target: "hooks_agent::hook", hook = hook.name(), why, "a hook cannot run in parallel");
            is_parallel = false;
        }
        Self {
            name,
            group,
            priority,
            order,
            always,
            is_parallel,
            looks_on,
            role,
            is_once,
            events,
            sync_events,
            answers,
            answers_around,
            warnings: Arc::default(),
            around,
            counter: hook.counter().map(Into::into),
            owner: None,
            inherited_from: None,
            site: site.into(),
        }
    }

    /// Returns the registration with a warning for all that the settings of the hook refer to and the agent
    /// does not have.
    pub(crate) fn checked(self, hook: &dyn DynAgentHook, agent: &(impl Agent + ?Sized)) -> Self {
        let warnings = Settings::of(hook).warnings(agent, Level::Instance);
        Self { warnings: warnings.into(), ..self }
    }

    /// Passes over names that no hook of a method has: those of all hooks of the agent are looked at elsewhere.
    pub(crate) fn checked_elsewhere(self) -> Self {
        Self { order: self.order.where_present(), ..self }
    }

    /// Sets the agent that the hook is inherited from.
    pub(crate) fn inherited_from(self, agent: Option<&Arc<str>>) -> Self {
        Self { inherited_from: agent.cloned(), ..self }
    }

    pub(crate) fn owned_by(self, owner: Option<&Arc<HookOwner>>) -> Self {
        Self { owner: owner.cloned(), ..self }
    }

    /// Returns the registration at these events and calls alone.
    pub(crate) fn within(self, scope: &Scope) -> Self {
        let events = self.events.intersection(scope.events);
        let sync_events = self.sync_events.intersection(scope.events);
        let around = self.around.intersection((scope.around)(self.role));
        Self { events, sync_events, around, ..self }
    }

    /// Returns whether the hook is called without waiting at an event.
    pub(crate) fn runs_now(&self, kind: EventKind) -> bool {
        self.sync_events.contains(kind) && !self.is_parallel
    }

    /// Returns the options for the method of an event.
    pub(crate) fn options_at(&self, kind: EventKind) -> HookOptions {
        let options = self.options().answers(self.answers.contains(kind));
        // These methods cannot fail. A call that begins is refused for what is wrong at them.
        if CANNOT_FAIL.contains(kind) {
            return options.order(self.order.clone().as_wish());
        }
        options
    }

    /// Returns the options for one of the calls that the hook runs around.
    pub(crate) fn options_around(&self, call: AroundMask) -> HookOptions {
        self.options().answers(self.answers_around.contains(call))
    }

    /// Returns the options for one method.
    pub(crate) fn options(&self) -> HookOptions {
        let options = HookOptions::named(self.name.clone()).priority(self.priority);
        let Site { file, line } = self.site.clone();
        let options = options.order(self.order.clone());
        let options = options.group(self.group).role(self.role).registered_in(file, line);
        let options = options.warnings(self.warnings.clone());
        let options = if self.looks_on { options.looks_on() } else { options };
        if self.always { options.always() } else { options }
    }
}

impl Site {
    /// A line of a file, from 1.
    pub(crate) fn of_file(file: &str, line: u32) -> Self {
        Self { file: file.to_owned().into(), line }
    }
}

impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file().into(), line: location.line() }
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
