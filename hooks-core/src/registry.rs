//! The registry: tables of hooks that are swapped while calls read them.

use std::any::{Any, TypeId};
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock, PoisonError};

use crate::hook_type::{HookType, Phase};
use crate::sync::{ArcSwap, AtomicU64, Loaded, Mutex, Ordering};

/// The hooks of one instance: the field that `#[derive(Hookable)]` looks for.
///
/// It is 16 bytes and allocates when the first hook is registered. Hooks are added and removed
/// through `&self` while calls run on any thread; a running call keeps the list it started with.
/// A clone starts with the same hooks and is independent from then on.
///
/// ```
/// use hooks_core::{Hookable, Hooks, hookable};
///
/// #[derive(Hookable, Clone)]
/// struct Counter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Counter {
///     #[hook]
///     fn count(&self, from: u32) -> u32 {
///         from + 1
///     }
/// }
///
/// let counter = Counter { hooks: Hooks::new() };
/// counter.register_instance_hook(
///     Counter::PRE_COUNT,
///     "double",
///     |_: &Counter, args: &mut CounterCountArgs| args.from *= 2,
/// );
/// let copy = counter.clone();
/// copy.remove_instance_hook(Counter::PRE_COUNT, "double")?;
/// assert_eq!((counter.count(4), copy.count(4)), (9, 5));
/// # Ok::<(), hooks_core::HookError>(())
/// ```
#[derive(Default)]
pub struct Hooks {
    registry: OnceLock<Box<Registry>>,
}

impl Hooks {
    /// No hooks yet, and no allocation until there are some.
    #[must_use]
    pub const fn new() -> Self {
        Self { registry: OnceLock::new() }
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Registry> {
        self.registry.get().map(Box::as_ref)
    }

    pub(crate) fn get_or_init(&self) -> &Registry {
        self.registry.get_or_init(Box::default)
    }
}

impl Clone for Hooks {
    fn clone(&self) -> Self {
        let copy = Self::new();
        if let Some(registry) = self.get() {
            let table = registry.table.load();
            let copied = |slot: &Slot| Slot { key: slot.key, hooks: slot.hooks.copied() };
            copy.get_or_init().publish(Table { slots: table.slots.iter().map(copied).collect() });
        }
        copy
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(registry) => registry.fmt(f),
            None => f.debug_map().finish(),
        }
    }
}

/// One registered hook, as a plan shows it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) hook_type: HookType,
    pub(crate) name: Arc<str>,
    pub(crate) priority: i32,
    pub(crate) source: Source,
}

/// Where a hook was registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl From<&'static Location<'static>> for Source {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line() }
    }
}

/// The hooks of one point, without their types.
pub(crate) trait ErasedHooks: Any + Send + Sync {
    /// The type whose methods these hooks run at.
    fn agent(&self) -> TypeId;
    fn method(&self) -> &'static str;
    /// The bits of the phases that have hooks in the interest mask of a table; zero for none.
    fn interest(&self) -> u64;
    /// In the order in which they run.
    fn rows(&self) -> Vec<Row>;
    /// The same hooks without those of the phase that have the name; `None` if there are none.
    fn without(&self, phase: Phase, name: &str) -> Option<Arc<dyn ErasedHooks>>;
    /// The same hooks for another instance: what was to run once will run once there.
    fn copied(&self) -> Arc<dyn ErasedHooks>;
    /// The same hooks without those of the phase.
    fn cleared(&self, phase: Phase) -> Arc<dyn ErasedHooks>;
}

/// A table and the means to swap it: readers never wait, writers take turns.
#[derive(Default)]
pub struct Registry {
    /// A bit for each phase of each point that has hooks; points that share one cost a look-up.
    interest: AtomicU64,
    table: ArcSwap<Table>,
    writers: Mutex<()>,
}

#[derive(Clone, Default)]
struct Table {
    slots: Vec<Slot>,
}

#[derive(Clone)]
struct Slot {
    key: TypeId,
    hooks: Arc<dyn ErasedHooks>,
}

/// A table that is being looked at.
pub(crate) struct LoadedTable(Loaded<Table>);

impl LoadedTable {
    /// The hooks of one point.
    #[inline]
    pub(crate) fn point<T: ErasedHooks>(&self) -> Option<&T> {
        let hooks: &dyn Any = &*self.slot::<T>()?.hooks;
        hooks.downcast_ref()
    }

    /// The hooks of one point, to be kept.
    pub(crate) fn shared_point<T: ErasedHooks>(&self) -> Option<Arc<T>> {
        let hooks: Arc<dyn Any + Send + Sync> = self.slot::<T>()?.hooks.clone();
        hooks.downcast().ok()
    }

    fn slot<T: 'static>(&self) -> Option<&Slot> {
        self.0.slots.iter().find(|slot| slot.key == TypeId::of::<T>())
    }
}

impl Registry {
    #[inline]
    pub(crate) fn has_interest(&self, bits: u64) -> bool {
        self.interest.load(Ordering::Acquire) & bits != 0
    }

    /// The table as it is now.
    #[inline]
    pub(crate) fn load(&self) -> LoadedTable {
        LoadedTable(self.table.load())
    }

    /// Changes the hooks of one point. `edit` runs under the writers' lock: it only moves values.
    pub(crate) fn edit<T: ErasedHooks + Clone + Default>(&self, edit: impl FnOnce(&mut T)) {
        let key = TypeId::of::<T>();
        self.replace(|table| {
            let mut hooks = self.load().point::<T>().cloned().unwrap_or_default();
            edit(&mut hooks);
            let hooks: Arc<dyn ErasedHooks> = Arc::new(hooks);
            match table.slots.iter_mut().find(|slot| slot.key == key) {
                Some(slot) => slot.hooks = hooks,
                None => table.slots.push(Slot { key, hooks }),
            }
        });
    }

    /// Removes a hook by name, of one type or of any; says whether there was one.
    pub(crate) fn remove(&self, agent: Option<TypeId>, hook_type: &HookType, name: &str) -> bool {
        let mut found = false;
        self.replace(|table| {
            for slot in table.slots_of(agent, hook_type.method()) {
                if let Some(hooks) = slot.hooks.without(hook_type.phase(), name) {
                    slot.hooks = hooks;
                    found = true;
                }
            }
        });
        found
    }

    /// Removes the hooks of one hook type, or all, of one type or of any.
    pub(crate) fn clear(&self, agent: Option<TypeId>, hook_type: Option<&HookType>) {
        self.replace(|table| match hook_type {
            Some(hook_type) => {
                for slot in table.slots_of(agent, hook_type.method()) {
                    slot.hooks = slot.hooks.cleared(hook_type.phase());
                }
            }
            None => table.slots.retain(|slot| agent.is_some_and(|of| slot.hooks.agent() != of)),
        });
    }

    /// Every hook, point by point in the order of their first registration.
    pub(crate) fn rows(&self) -> Vec<Row> {
        self.table.load().slots.iter().flat_map(|slot| slot.hooks.rows()).collect()
    }

    /// The hooks of one agent type.
    pub(crate) fn rows_of(&self, agent: TypeId) -> Vec<Row> {
        let table = self.table.load();
        let slots = table.slots.iter().filter(|slot| slot.hooks.agent() == agent);
        slots.flat_map(|slot| slot.hooks.rows()).collect()
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
        table.slots.retain(|slot| slot.hooks.interest() != 0);
        let interest = table.slots.iter().fold(0, |mask, slot| mask | slot.hooks.interest());
        let old = self.table.swap(Arc::new(table));
        self.interest.store(interest, Ordering::Release);
        old
    }
}

impl Table {
    fn slots_of(&mut self, agent: Option<TypeId>, method: &str) -> impl Iterator<Item = &mut Slot> {
        let slots = self.slots.iter_mut();
        let is_of_agent = move |slot: &Slot| agent.is_none_or(|of| slot.hooks.agent() == of);
        slots.filter(move |slot| is_of_agent(slot) && slot.hooks.method() == method)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.rows().into_iter().map(|row| (row.hook_type.to_string(), row.name)))
            .finish()
    }
}
