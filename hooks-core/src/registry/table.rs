//! The registry: a table of hooks that is swapped while calls read it.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::Deref;
// Counters that nothing waits for: schedules do not depend on them.
use std::sync::atomic::AtomicU64 as Counter;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, PoisonError};

use crate::group::HookGroup;
use crate::hook_type::HookType;
use crate::registry::list::Lists;
use crate::registry::registration::Registration;
use crate::registry::swap::{ArcSwap, AtomicU64, Loaded, Mutex, Ordering, Sealed};

/// The hooks of one point, without their types.
pub(crate) trait ErasedHooks: Any + Send + Sync {
    /// The type whose methods these hooks run at.
    fn agent(&self) -> TypeId;
    fn method(&self) -> &'static str;
    /// The bit of the point in the interest mask of a registry.
    fn bit(&self) -> u64;
    fn lists(&self) -> &Lists;
    /// Other hooks of the same point.
    fn with(&self, lists: Lists) -> Arc<dyn ErasedHooks>;
}

/// A table and the means to swap it: readers never wait, writers take turns.
#[derive(Default)]
pub struct Registry {
    /// A bit for each point that has hooks; points that share one cost a look-up.
    interest: AtomicU64,
    table: ArcSwap<Table>,
    writers: Mutex<()>,
    is_of_class: bool,
    /// The table, once it is known to stay.
    sealed: Sealed<Table>,
}

#[derive(Clone, Default)]
pub(crate) struct Table {
    points: Vec<Point>,
    /// Tells this table from all others; 0 if nothing was ever registered.
    version: u64,
}

/// The hooks of one point, by the type that they have as [`ErasedHooks`].
#[derive(Clone)]
struct Point {
    key: TypeId,
    hooks: Arc<dyn ErasedHooks>,
}

/// A table that is being looked at.
pub(crate) enum LoadedTable<'r> {
    /// One that stays as long as its registry.
    Sealed(&'r Arc<Table>),
    /// Kept for as long as nothing waits.
    Swapped(Loaded<Table>),
    Counted(Arc<Table>),
}

impl LoadedTable<'_> {
    /// Makes it such that it may be kept while something waits.
    #[inline]
    pub(crate) fn keep(&mut self) {
        if let Self::Swapped(table) = self {
            *self = Self::Counted(Arc::clone(table));
        }
    }

    /// The same table, to be kept longer than its registry is borrowed.
    pub(crate) fn unsealed<'s>(self) -> LoadedTable<'s> {
        match self {
            Self::Sealed(table) => LoadedTable::Counted(table.clone()),
            Self::Swapped(table) => LoadedTable::Swapped(table),
            Self::Counted(table) => LoadedTable::Counted(table),
        }
    }
}

impl Deref for LoadedTable<'_> {
    type Target = Table;

    #[inline]
    fn deref(&self) -> &Table {
        match self {
            Self::Sealed(table) => table,
            Self::Swapped(table) => table,
            Self::Counted(table) => table,
        }
    }
}

impl Table {
    /// The hooks of one point.
    #[inline]
    pub(crate) fn hooks_of<T: ErasedHooks>(&self) -> Option<&T> {
        let hooks: &dyn Any = self.of(TypeId::of::<T>())?;
        hooks.downcast_ref()
    }

    #[inline]
    fn of(&self, key: TypeId) -> Option<&dyn ErasedHooks> {
        Some(&*self.points.iter().find(|point| point.key == key)?.hooks)
    }
}

impl Registry {
    /// Creates the registry of the class hooks of a method.
    pub(crate) fn of_class() -> Self {
        Self { is_of_class: true, ..Self::default() }
    }

    /// Returns the version of the table, which no other table has.
    pub(crate) fn version(&self) -> u64 {
        self.table.load().version
    }

    #[inline]
    pub(crate) fn has_interest(&self, bit: u64) -> bool {
        self.interest.load(Ordering::Acquire) & bit != 0
    }

    /// The table as it is now.
    #[inline]
    pub(crate) fn load(&self) -> LoadedTable<'_> {
        match self.sealed.get() {
            Some(table) => LoadedTable::Sealed(table),
            None => LoadedTable::Swapped(self.table.load()),
        }
    }

    /// Keeps the table to be read without a counter, until it changes. A hook that runs once is to be dropped
    /// when it has run, so that a table with one stays as it is.
    pub(crate) fn seal(&self) {
        let _turn = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.table.load_full();
        if !table.points.iter().any(|point| point.hooks.lists().runs_once()) {
            self.sealed.seal(table);
        }
    }

    /// Changes the hooks of one point. `edit` runs under the writers' lock: it only moves values.
    pub(crate) fn edit(
        &self,
        key: TypeId,
        empty: fn() -> Arc<dyn ErasedHooks>,
        edit: &mut dyn FnMut(&Lists) -> Lists,
    ) {
        self.replace(|table| {
            let known = table.points.iter_mut().find(|point| point.key == key);
            match known {
                Some(point) => point.hooks = point.hooks.with(edit(point.hooks.lists())),
                None => {
                    let hooks = empty();
                    let hooks = hooks.with(edit(hooks.lists()));
                    table.points.push(Point { key, hooks });
                }
            }
        });
    }

    /// Removes a hook by name, of one type or of any; says whether there was one.
    pub(crate) fn remove(&self, agent: Option<TypeId>, hook_type: &HookType, name: &str) -> bool {
        let mut found = false;
        self.replace(|table| {
            for point in table.points_of(agent, hook_type.method()) {
                if let Some(lists) = point.hooks.lists().without(hook_type.phase(), name) {
                    point.hooks = point.hooks.with(lists);
                    found = true;
                }
            }
        });
        found
    }

    /// Removes the hooks of a group; says how many there were.
    pub(crate) fn remove_group(&self, group: HookGroup) -> usize {
        let mut removed = 0;
        self.replace(|table| {
            for point in &mut table.points {
                if let Some((count, lists)) = point.hooks.lists().without_group(group) {
                    point.hooks = point.hooks.with(lists);
                    removed += count;
                }
            }
        });
        removed
    }

    /// Removes the hooks of one hook type, or all, of one type or of any.
    pub(crate) fn clear(&self, agent: Option<TypeId>, hook_type: Option<&HookType>) {
        self.replace(|table| match hook_type {
            Some(hook_type) => {
                for point in table.points_of(agent, hook_type.method()) {
                    point.hooks = point.hooks.with(point.hooks.lists().cleared(hook_type.phase()));
                }
            }
            None => table.points.retain(|point| agent.is_some_and(|of| point.hooks.agent() != of)),
        });
    }

    /// Starts with the hooks of another registry.
    pub(crate) fn copy_from(&self, other: &Self) {
        let table = other.table.load();
        let copied = |point: &Point| Point {
            key: point.key,
            hooks: point.hooks.with(point.hooks.lists().parted()),
        };
        self.publish(Table { points: table.points.iter().map(copied).collect(), version: 0 });
    }

    /// What every hook was registered with, point by point in the order of their first registration.
    pub(crate) fn registrations(&self) -> Vec<Arc<Registration>> {
        let table = self.table.load();
        table.points.iter().flat_map(|point| point.hooks.lists().registrations()).collect()
    }

    /// The same of the hooks of one agent type.
    pub(crate) fn registrations_of(&self, agent: TypeId) -> Vec<Arc<Registration>> {
        let table = self.table.load();
        let points = table.points.iter().filter(|point| point.hooks.agent() == agent);
        points.flat_map(|point| point.hooks.lists().registrations()).collect()
    }

    fn replace(&self, edit: impl FnOnce(&mut Table)) {
        let turn = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut table = Table::clone(&self.table.load());
        edit(&mut table);
        let old = self.publish(table);
        drop(turn);
        // The last owner of a removed hook runs its destructor, which may call back into here.
        drop(old);
    }

    fn publish(&self, mut table: Table) -> Arc<Table> {
        table.points.retain(|point| point.hooks.lists().masks.phases != 0);
        let interest = table.points.iter().fold(0, |mask, point| mask | point.hooks.bit());
        table.version = next_version();
        let old = self.table.swap(Arc::new(table));
        self.sealed.open();
        if self.is_of_class {
            CLASS_CHANGES.fetch_add(1, Release);
        }
        self.interest.store(interest, Ordering::Release);
        old
    }
}

/// How often a table of class hooks was replaced.
static CLASS_CHANGES: Counter = Counter::new(0);

/// Returns how often a table of class hooks was replaced in this process.
pub(crate) fn class_changes() -> u64 {
    CLASS_CHANGES.load(Acquire)
}

fn next_version() -> u64 {
    static LAST: Counter = Counter::new(0);
    LAST.fetch_add(1, Relaxed) + 1
}

impl Table {
    fn points_of(
        &mut self,
        agent: Option<TypeId>,
        method: &str,
    ) -> impl Iterator<Item = &mut Point> {
        let points = self.points.iter_mut();
        let is_of_agent = move |point: &Point| agent.is_none_or(|of| point.hooks.agent() == of);
        points.filter(move |point| is_of_agent(point) && point.hooks.method() == method)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.registrations()
                    .iter()
                    .map(|hook| (hook.hook_type.to_string(), hook.name.clone())),
            )
            .finish()
    }
}
