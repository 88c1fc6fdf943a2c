//! The event hooks of an agent, or of the builder of one.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_core::{HookGroup, Hookable};

use crate::hook::registration::{EventPoints, Instance, Registration, new_group};
use crate::hook::{AgentHook, CallWatchers, HookWatcher};
use crate::tool::{Tool, Tools};

/// Event hooks, in the order in which they were added.
pub(crate) struct HookList<A: ?Sized>(Vec<Listed<A>>);

struct Listed<A: ?Sized> {
    group: HookGroup,
    watcher: Option<Arc<dyn HookWatcher>>,
    hook: Arc<dyn Installable<A>>,
}

trait Installable<A: ?Sized>: Send + Sync {
    fn name(&self) -> String;
    fn install(&self, agent: &A, group: HookGroup);
    fn tools(&self) -> Tools;
    fn inherit(&self) -> bool;
}

/// A hook of known type, so that each call of it is boxed only once.
struct Typed<H>(Arc<H>, &'static Location<'static>);

impl<A: EventPoints + ?Sized, H: AgentHook> Installable<A> for Typed<H> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn install(&self, agent: &A, group: HookGroup) {
        A::install(&Instance(agent), &self.0, &Registration::of(&*self.0, group, self.1));
    }

    fn tools(&self) -> Tools {
        self.0.tools()
    }

    fn inherit(&self) -> bool {
        self.0.inherit()
    }
}

impl<A: EventPoints + ?Sized> HookList<A> {
    #[track_caller]
    pub(crate) fn add(&mut self, hook: impl AgentHook) {
        let watcher = hook.watcher();
        let hook = Arc::new(Typed(Arc::new(hook), Location::caller()));
        self.0.push(Listed { group: new_group(), watcher, hook });
    }

    /// Adds a hook and registers it at an agent, then removes the earlier hooks of its name and
    /// returns them.
    #[track_caller]
    pub(crate) fn replace(&mut self, agent: &A, hook: impl AgentHook) -> Self {
        let name = hook.name();
        self.add(hook);
        let Some(added) = self.0.pop() else { return Self::default() };
        added.hook.install(agent, added.group);
        let removed = self.remove(agent, &name);
        self.0.push(added);
        removed
    }

    /// Removes the hooks of this name from the list and from the agent, and returns them.
    pub(crate) fn remove(&mut self, agent: &A, name: &str) -> Self {
        let is_meant = |listed: &mut Listed<A>| listed.hook.name() == name;
        let removed: Vec<_> = self.0.extract_if(.., is_meant).collect();
        for listed in &removed {
            agent.remove_instance_group(listed.group);
        }
        Self(removed)
    }

    /// Registers the hooks at the methods of an agent.
    pub(crate) fn install(&self, agent: &A) {
        for Listed { group, hook, .. } in &self.0 {
            hook.install(agent, *group);
        }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.0.iter().flat_map(|listed| listed.hook.tools())
    }

    /// Adds the hooks of another list that also run in agents that are tools, each once.
    pub(crate) fn inherit(&mut self, other: &Self) {
        for listed in &other.0 {
            let is_known = self.0.iter().any(|known| known.group == listed.group);
            if listed.hook.inherit() && !is_known {
                self.0.push(listed.clone());
            }
        }
    }

    /// Adds the watchers that the hooks bring.
    pub(crate) fn watch(&self, watchers: &mut CallWatchers) {
        for listed in &self.0 {
            if let Some(watcher) = &listed.watcher {
                watchers.add(listed.group, watcher);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The event hooks of an agent, which come and go while calls run.
pub(crate) struct SharedHooks<A: ?Sized>(Mutex<HookList<A>>);

impl<A: EventPoints + ?Sized> SharedHooks<A> {
    pub(crate) fn new(hooks: HookList<A>) -> Self {
        Self(Mutex::new(hooks))
    }

    /// Returns the hooks as they are now.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HookList<A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: ?Sized> Clone for HookList<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ?Sized> Clone for Listed<A> {
    fn clone(&self) -> Self {
        Self { group: self.group, watcher: self.watcher.clone(), hook: self.hook.clone() }
    }
}

impl<A: ?Sized> Default for HookList<A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<A: EventPoints + ?Sized> fmt::Debug for HookList<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|listed| listed.hook.name())).finish()
    }
}
