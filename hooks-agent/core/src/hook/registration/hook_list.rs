//! The event hooks of an agent, or of the builder of one.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_core::plan::HooksVersion;
use hooks_core::{HookGroup, HookOrder, HookPlan, HookRole, Hookable, OrderFault};

use crate::call::{CallContext, ForeignGuard, ForeignGuards, HookOwner};
use crate::event::EventMask;
use crate::hook::around::AroundMask;
use crate::hook::boxed::DynAgentHook;
use crate::hook::registration::entry::{EventPoints, Registration, Scope, Site, new_group};
use crate::hook::registration::target::Instance;
use crate::hook::shadow::ShadowCounts;
use crate::hook::watch::{CallWatchers, HookWatcher};
use crate::tool::Tool;

/// Event hooks, in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct HookList(Vec<Listed>);

#[derive(Clone)]
struct Listed {
    group: HookGroup,
    watcher: Option<Arc<dyn HookWatcher>>,
    /// With its priority.
    guard: Option<(i32, Arc<dyn ForeignGuard>)>,
    hook: Arc<dyn DynAgentHook>,
    /// Where it stands by the names of others, if it asks for something.
    order: Option<Arc<HookOrder>>,
    /// Where the user added the hook.
    site: Site,
    /// Where the hook is registered, if not at all that it receives.
    scope: Option<Scope>,
    /// The agent that the hook is inherited from, if it counts.
    owner: Option<Arc<HookOwner>>,
    /// The agent that the hook is inherited from.
    inherited_from: Option<Arc<str>>,
}

impl Listed {
    fn install<A: EventPoints + ?Sized>(&self, agent: &A) {
        let registration = Registration::of(&*self.hook, self.group, self.site.clone());
        let registration = registration.checked(&*self.hook, agent).owned_by(self.owner.as_ref());
        let registration = registration.inherited_from(self.inherited_from.as_ref());
        let registration = registration.checked_elsewhere();
        let registration = match &self.scope {
            None => registration,
            Some(scope) => registration.within(scope),
        };
        A::install(&Instance(agent), &self.hook, &registration);
    }
}

/// Returns the first name that the order of a hook asks for and nobody has.
pub(super) fn missing(
    hook: &str,
    order: &HookOrder,
    has: impl Fn(&str) -> bool,
) -> Option<OrderFault> {
    let (relation, name) = order.missing(has)?;
    Some(OrderFault::missing(hook, relation, name))
}

impl HookList {
    #[track_caller]
    pub(crate) fn add(&mut self, hook: Arc<dyn DynAgentHook>) {
        let site = Location::caller().into();
        let watcher = hook.watcher();
        let guard = hook.foreign_guard().map(|guard| (hook.priority(), guard));
        let (group, scope, owner, inherited_from) = (new_group(), None, None, None);
        let order = Some(hook.order()).filter(|order| !order.is_empty()).map(Arc::new);
        self.0.push(Listed {
            group,
            watcher,
            guard,
            hook,
            order,
            site,
            scope,
            owner,
            inherited_from,
        });
    }

    /// Adds a hook and registers it at an agent, then removes the earlier hooks of its name and
    /// returns them.
    #[track_caller]
    pub(crate) fn replace<A: EventPoints + ?Sized>(
        &mut self,
        agent: &A,
        hook: Arc<dyn DynAgentHook>,
    ) -> Self {
        let name = hook.name();
        self.add(hook);
        let Some(added) = self.0.pop() else { return Self::default() };
        added.install(agent);
        let removed = self.remove(agent, &name);
        self.0.push(added);
        removed
    }

    /// Removes the hooks of this name from the list and from the agent, and returns them.
    pub(crate) fn remove<A: EventPoints + ?Sized>(&mut self, agent: &A, name: &str) -> Self {
        let is_meant = |listed: &mut Listed| listed.hook.name() == name;
        let removed: Vec<_> = self.0.extract_if(.., is_meant).collect();
        for listed in &removed {
            agent.remove_instance_group(listed.group);
        }
        Self(removed)
    }

    /// Registers the hooks at the methods of an agent.
    pub(crate) fn install<A: EventPoints + ?Sized>(&self, agent: &A) {
        for listed in &self.0 {
            listed.install(agent);
        }
    }

    /// Whether a hook asks where to stand by the names of others.
    pub(crate) fn is_ordered(&self) -> bool {
        self.0.iter().any(|listed| listed.order.is_some())
    }

    /// Whether a hook looks at those beside it.
    pub(crate) fn has_checks(&self) -> bool {
        self.0.iter().any(|listed| listed.hook.plan_check().is_some())
    }

    /// Returns the hooks that ask for another one that nobody has, by name.
    pub(crate) fn missing(&self, has: impl Fn(&str) -> bool) -> Vec<OrderFault> {
        let missing = |it: &Listed| missing(&it.hook.name(), it.order.as_deref()?, &has);
        self.0.iter().filter_map(missing).collect()
    }

    /// Returns a counter that two hooks share, with their names.
    pub(crate) fn shared_counter(&self) -> Option<(String, [String; 2])> {
        let mut known: Vec<(String, String)> = Vec::new();
        for listed in &self.0 {
            let Some(counter) = listed.hook.counter() else { continue };
            let name = listed.hook.name();
            if let Some((_, other)) = known.iter().find(|(taken, _)| *taken == counter) {
                return Some((counter, [other.clone(), name]));
            }
            known.push((counter, name));
        }
        None
    }

    /// Returns a hook in shadow that cannot run there, and why.
    pub(crate) fn not_in_shadow(&self) -> Option<(String, String)> {
        let shadowed = self.0.iter().filter(|it| it.hook.__shadow().is_some());
        let mut refused =
            shadowed.filter_map(|it| Some((it.hook.name(), it.hook.not_in_shadow()?)));
        refused.next()
    }

    /// Returns a hook that cannot run beside the others of an agent, and why.
    pub(crate) fn conflict(&self, plan: impl Fn() -> HookPlan) -> Option<(String, String)> {
        let checks = self.0.iter().filter_map(|it| Some((it, it.hook.plan_check()?)));
        let mut refused =
            checks.filter_map(|(it, check)| Some((it.hook.name(), check(&plan(), it.group)?)));
        refused.next()
    }

    /// Returns a hook that is to run at once with others and cannot, and why.
    pub(crate) fn not_parallel(&self) -> Option<(String, &'static str)> {
        let mut parallel = self.0.iter().filter(|it| it.hook.is_parallel());
        parallel.find_map(|it| Some((it.hook.name(), it.hook.not_parallel()?)))
    }

    /// Returns whether a hook has this name.
    pub(crate) fn has_named(&self, name: &str) -> bool {
        self.0.iter().any(|it| it.hook.name() == name)
    }

    /// Returns what the hooks in shadow, and parts of others, would have done, by name.
    pub(crate) fn shadow_counts(&self) -> Vec<(String, ShadowCounts)> {
        let mut counts = Vec::new();
        for Listed { hook, .. } in &self.0 {
            counts.extend(hook.__shadow().map(|shadow| (hook.name(), shadow.counts())));
            let parts = hook.shadow_parts().into_iter();
            counts.extend(parts.map(|part| (part.name().to_owned(), part.counts())));
        }
        counts
    }

    /// Returns the hooks that lose with the process what they keep, and why.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(|it| Some((it.hook.name(), it.hook.ends_with_process()?)))
    }

    /// Returns a hook that decides by who a user is.
    pub(crate) fn needs_login(&self) -> Option<String> {
        self.0.iter().find(|it| it.hook.needs_login()).map(|it| it.hook.name())
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.0.iter().flat_map(|listed| listed.hook.tools())
    }

    /// Adds the hooks of another list, each once.
    pub(crate) fn join(&mut self, other: &Self) {
        for listed in &other.0 {
            if !self.has(listed.group) {
                self.0.push(listed.clone());
            }
        }
    }

    /// Returns the hooks, registered at these events and calls alone.
    pub(crate) fn within(&self, scope: Scope) -> Self {
        let hooks = self.0.iter().cloned();
        Self(
            hooks
                .map(|listed| Listed { group: new_group(), scope: Some(scope), ..listed })
                .collect(),
        )
    }

    /// Returns the same hooks, as added at this place.
    pub(crate) fn added_at(&self, site: &Site) -> Self {
        let hooks = self.0.iter().cloned();
        Self(hooks.map(|listed| Listed { site: site.clone(), ..listed }).collect())
    }

    /// Returns whether this holds for a hook that does not run in shadow: its role, its events, what it runs around.
    pub(crate) fn any(
        &self,
        mut is: impl FnMut(Option<HookRole>, EventMask, AroundMask) -> bool,
    ) -> bool {
        let mut hooks = self.0.iter().filter(|listed| listed.hook.__shadow().is_none());
        hooks.any(|listed| {
            let hook = &listed.hook;
            let (role, mut events, mut around) = (hook.role(), hook.events(), hook.around());
            if let Some(scope) = &listed.scope {
                events = events.intersection(scope.events);
                around = around.intersection((scope.around)(role));
            }
            is(role, events, around)
        })
    }

    /// Returns whether both have the same hooks in the same order, added at the same places.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_same =
            |one: &Listed, other: &Listed| one.group == other.group && one.site == other.site;
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(one, other)| is_same(one, other))
    }

    /// Removes the hooks that another list has.
    pub(crate) fn remove_all(&mut self, other: &Self) {
        self.0.retain(|listed| !other.has(listed.group));
    }

    fn has(&self, group: HookGroup) -> bool {
        self.0.iter().any(|known| known.group == group)
    }

    /// Adds the hooks of a caller that also run in agents that are tools, each once.
    pub(crate) fn inherit(&mut self, other: &Self, caller: &CallContext) {
        for listed in &other.0 {
            if listed.hook.inherit() && !self.has(listed.group) {
                let counts = listed.hook.counter().is_some() || listed.hook.__shadow().is_some();
                let owner = counts.then(|| Arc::new(HookOwner::of(caller)));
                let from = || caller.shared_agent_name();
                let inherited_from = listed.inherited_from.clone().or_else(|| Some(from()));
                self.0.push(Listed { owner, inherited_from, ..listed.clone() });
            }
        }
    }

    /// Returns the hooks that also run in agents that are tools.
    pub(crate) fn heritable(&self) -> Self {
        Self(self.0.iter().filter(|listed| listed.hook.inherit()).cloned().collect())
    }

    fn watches(&self) -> bool {
        self.0.iter().any(|listed| listed.watcher.is_some() || listed.guard.is_some())
    }

    /// Adds the watchers that the hooks bring.
    pub(crate) fn watch(&self, watchers: &mut CallWatchers, guards: &mut ForeignGuards) {
        for listed in &self.0 {
            if let Some(watcher) = &listed.watcher {
                watchers.add(listed.group, watcher);
            }
            if let Some((priority, guard)) = &listed.guard {
                guards.add(*priority, guard);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The event hooks of an agent, which come and go while calls run.
pub(crate) struct SharedHooks {
    hooks: Mutex<HookList>,
    /// Whether a hook that watches others was ever among them.
    has_watched: AtomicBool,
    /// Whether a hook that asks where to stand was ever among them.
    has_ordered: AtomicBool,
    /// Whether a hook that looks at those beside it was ever among them.
    has_checks: AtomicBool,
    /// The hooks of the agent and of its type whose order was found right.
    in_order: Mutex<Option<(HooksVersion, usize)>>,
}

impl SharedHooks {
    pub(crate) fn new(hooks: HookList) -> Self {
        let has_watched = AtomicBool::new(hooks.watches());
        let has_ordered = AtomicBool::new(hooks.is_ordered());
        let has_checks = AtomicBool::new(hooks.has_checks());
        let in_order = Mutex::default();
        Self { hooks: Mutex::new(hooks), has_watched, has_ordered, has_checks, in_order }
    }

    /// Registers the hooks at the methods of an agent.
    pub(crate) fn install<A: EventPoints + ?Sized>(&self, agent: &A) {
        self.lock().install(agent);
    }

    /// Adds the hooks of a list and registers them at an agent.
    pub(crate) fn add<A: EventPoints + ?Sized>(&self, agent: &A, hooks: &HookList) {
        self.note(hooks);
        hooks.install(agent);
        self.lock().join(hooks);
    }

    /// Adds a hook and registers it at an agent, then removes the earlier hooks of its name and
    /// returns them.
    #[track_caller]
    pub(crate) fn replace<A: EventPoints + ?Sized>(
        &self,
        agent: &A,
        hook: Arc<dyn DynAgentHook>,
    ) -> HookList {
        // Before it runs, so that a call that has it looks at its order.
        self.has_ordered.fetch_or(!hook.order().is_empty(), Ordering::AcqRel);
        self.has_checks.fetch_or(hook.plan_check().is_some(), Ordering::AcqRel);
        let mut hooks = self.lock();
        let removed = hooks.replace(agent, hook);
        self.note(&hooks);
        removed
    }

    /// Removes the hooks of this name from the list and from the agent, and returns them.
    pub(crate) fn remove<A: EventPoints + ?Sized>(&self, agent: &A, name: &str) -> HookList {
        let removed = self.lock().remove(agent, name);
        *self.in_order() = None;
        removed
    }

    /// Adds the watchers that the hooks bring.
    pub(crate) fn watch(&self, watchers: &mut CallWatchers, guards: &mut ForeignGuards) {
        if self.has_watched.load(Ordering::Acquire) {
            self.lock().watch(watchers, guards);
        }
    }

    /// Whether a hook may ask where to stand by the names of others.
    pub(crate) fn is_ordered(&self) -> bool {
        self.has_ordered.load(Ordering::Acquire)
    }

    /// Whether a hook may look at those beside it.
    pub(crate) fn has_checks(&self) -> bool {
        self.has_checks.load(Ordering::Acquire)
    }

    /// Returns the hooks as they are now.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HookList> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, hooks: &HookList) {
        self.has_watched.fetch_or(hooks.watches(), Ordering::AcqRel);
        self.has_ordered.fetch_or(hooks.is_ordered(), Ordering::AcqRel);
        self.has_checks.fetch_or(hooks.has_checks(), Ordering::AcqRel);
        *self.in_order() = None;
    }

    /// Returns the hooks whose order was found right.
    pub(crate) fn in_order(&self) -> MutexGuard<'_, Option<(HooksVersion, usize)>> {
        self.in_order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for HookList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|listed| listed.hook.name())).finish()
    }
}
