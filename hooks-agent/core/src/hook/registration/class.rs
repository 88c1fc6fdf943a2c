//! Event hooks of all agents of a type.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_core::{HookGroup, HookOrder, HookPlan, Hookable, Level, OrderFault, RegistryError};

use crate::agent::Agent;
use crate::agent::linked::install_linked;
use crate::call::{ForeignGuard, ForeignGuards};
use crate::hook::agent_hook::AgentHook;
use crate::hook::boxed::DynAgentHook;
use crate::hook::registration::entry::{EventPoints, Registration, new_group};
use crate::hook::registration::hook_list::missing;
use crate::hook::registration::settings::Settings;
use crate::hook::registration::target::Class;
use crate::hook::watch::{CallWatchers, HookWatcher};

/// A hook of all agents of a type.
struct ClassHook {
    agent: TypeId,
    name: String,
    group: HookGroup,
    watcher: Option<Arc<dyn HookWatcher>>,
    /// With its priority.
    guard: Option<(i32, Arc<dyn ForeignGuard>)>,
    settings: Arc<Settings>,
    /// Where it stands by the names of others, if it asks for something.
    order: Option<HookOrder>,
}

/// How many class hooks watch others, or guard foreign text.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

/// How often the class hooks have changed.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// How many class hooks ask where to stand by the names of others.
static ORDERED: AtomicUsize = AtomicUsize::new(0);

/// Registers a hook for all agents of a type, and removes an earlier one of its name.
#[track_caller]
pub(crate) fn register_class<A: EventPoints + ?Sized>(hook: &Arc<dyn DynAgentHook>) {
    // What the linker collected counts as registered before.
    install_linked();
    install::<A>(hook, Location::caller());
}

/// Registers a hook that the linker collected.
#[doc(hidden)]
#[track_caller]
#[expect(private_bounds, reason = "`#[agent_hook(class)]` calls it, for the types of this crate")]
pub fn link<A: EventPoints + ?Sized>(hook: impl AgentHook) {
    install::<A>(&hook.__share(), Location::caller());
}

fn install<A: EventPoints + ?Sized>(
    hook: &Arc<dyn DynAgentHook>,
    location: &'static Location<'static>,
) {
    let (name, group) = (hook.name(), new_group());
    let (registration, watcher) = (Registration::of(&**hook, group, location), hook.watcher());
    let guard = hook.foreign_guard().map(|guard| (hook.priority(), guard));
    let settings = Arc::new(Settings::of(&**hook));
    let agent = TypeId::of::<A>();
    // Where nobody else looks, each method looks for the names.
    let is_of_all = agent == TypeId::of::<dyn Agent>();
    let registration = if is_of_all { registration } else { registration.checked_elsewhere() };
    let order = Some(hook.order()).filter(|order| !order.is_empty());
    let added = ClassHook { agent, name: name.clone(), group, watcher, guard, settings, order };
    // Known before it runs, so that a call that has it looks at its order.
    add(added);
    A::install(&Class::<A>(PhantomData), hook, &registration);
    remove::<A>(&name, Some(group));
    if !lock().iter().any(|hook| hook.group == group) {
        // Another one of its name came, or it was removed, while it was registered.
        <A as Hookable>::remove_class_group(group);
    }
}

/// Removes the hooks of this name of all agents of a type.
pub(crate) fn remove_class<A: EventPoints + ?Sized>(name: &str) -> Result<(), RegistryError> {
    install_linked();
    if remove::<A>(name, None) {
        return Ok(());
    }
    let agent = type_name::<A>().rsplit("::").next().unwrap_or_default().to_owned();
    Err(RegistryError::not_found(name, <dyn Agent>::PRE_REPLY, agent, Level::Class))
}

fn add(added: ClassHook) {
    let mut known = lock();
    known.push(added);
    note(&known);
}

/// Removes the hooks of this name, or those that came before one of them; says whether there was one.
fn remove<A: EventPoints + ?Sized>(name: &str, before: Option<HookGroup>) -> bool {
    let removed: Vec<_> = {
        let mut known = lock();
        let place = |group| known.iter().position(|hook| hook.group == group);
        let end = before.map_or(known.len(), |group| place(group).unwrap_or(0));
        let is_meant = |hook: &mut ClassHook| hook.agent == TypeId::of::<A>() && hook.name == name;
        let removed = known.extract_if(..end, is_meant).collect();
        note(&known);
        removed
    };
    // Without the lock: a hook may use this module when it is dropped.
    for hook in &removed {
        <A as Hookable>::remove_class_group(hook.group);
    }
    !removed.is_empty()
}

/// Counts what calls ask for without the lock.
fn note(known: &[ClassHook]) {
    let watching = known.iter().filter(|hook| hook.watcher.is_some() || hook.guard.is_some());
    WATCHING.store(watching.count(), Ordering::Release);
    let ordered = known.iter().filter(|hook| hook.order.is_some());
    ORDERED.store(ordered.count(), Ordering::Release);
    CHANGES.fetch_add(1, Ordering::AcqRel);
}

/// Adds the watchers and the guards that class hooks of agents of this type bring.
pub(crate) fn watch_class<A: EventPoints>(watchers: &mut CallWatchers, guards: &mut ForeignGuards) {
    if WATCHING.load(Ordering::Acquire) == 0 {
        return;
    }
    for hook in lock().iter().filter(|hook| hook.is_of::<A>()) {
        if let Some(watcher) = &hook.watcher {
            watchers.add(hook.group, watcher);
        }
        if let Some((priority, guard)) = &hook.guard {
            guards.add(*priority, guard);
        }
    }
}

/// Returns how often the class hooks have changed.
pub(crate) fn class_hook_changes() -> usize {
    CHANGES.load(Ordering::Acquire)
}

/// Returns whether a class hook asks where to stand by the names of others.
pub(crate) fn class_hooks_ask() -> bool {
    ORDERED.load(Ordering::Acquire) > 0
}

/// Returns whether a class hook of agents of this type has this name.
pub(crate) fn has_class_hook<A: EventPoints>(name: &str) -> bool {
    lock().iter().any(|hook| hook.is_of::<A>() && hook.name == name)
}

/// Returns a class hook of agents of this type alone that asks for another one that nobody has.
pub(crate) fn missing_of_class<A: EventPoints>(has: impl Fn(&str) -> bool) -> Option<OrderFault> {
    // Collected, without the lock: what looks for names looks here too.
    let ordered: Vec<_> = {
        let known = lock();
        let own = known.iter().filter(|hook| hook.agent == TypeId::of::<A>());
        own.filter_map(|hook| Some((hook.name.clone(), hook.order.clone()?))).collect()
    };
    ordered.iter().find_map(|(name, order)| missing(name, order, &has))
}

/// Returns the plan of an agent with a warning for what the settings of class hooks refer to and this agent
/// does not have.
pub(crate) fn warn_of_class(plan: HookPlan, agent: &(impl Agent + ?Sized)) -> HookPlan {
    let known: Vec<_> = lock().iter().map(|hook| (hook.group, hook.settings.clone())).collect();
    plan.with_warnings(|hook| {
        let found = known.iter().find(|(group, _)| hook.group() == Some(*group));
        found.map(|(_, settings)| settings.warnings(agent, Level::Class)).unwrap_or_default()
    })
}

/// Returns the class hooks of agents of this type that lose with the process what they keep, and why.
pub(crate) fn lost_of_class<A: EventPoints>() -> Vec<(String, String)> {
    let known = lock();
    let own = known.iter().filter(|hook| hook.is_of::<A>());
    own.filter_map(|hook| Some((hook.name.clone(), hook.settings.lost.clone()?))).collect()
}

/// Returns the name of a class hook of agents of this type that decides by who a user is.
pub(crate) fn login_of_class<A: EventPoints>() -> Option<String> {
    let known = lock();
    let own = known.iter().find(|hook| hook.is_of::<A>() && hook.settings.needs_login);
    own.map(|hook| hook.name.clone())
}

impl ClassHook {
    /// Returns whether it is a hook of agents of this type, or of all.
    fn is_of<A: 'static>(&self) -> bool {
        [TypeId::of::<A>(), TypeId::of::<dyn Agent>()].contains(&self.agent)
    }
}

fn lock() -> MutexGuard<'static, Vec<ClassHook>> {
    static KNOWN: Mutex<Vec<ClassHook>> = Mutex::new(Vec::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
