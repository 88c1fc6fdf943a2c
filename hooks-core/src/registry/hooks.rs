//! The hooks of one instance, and the trait of what has some.

use std::any::{TypeId, type_name};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::race::OnceBox;

use crate::registry::table::Registry;

/// The hooks of one instance: the field that `#[derive(Hookable)]` looks for.
///
/// It is 16 bytes and allocates when the first hook is registered. Hooks are added and removed
/// through `&self` while calls run on any thread; a running call keeps the hooks it started with.
/// A clone starts with the same hooks and is independent from then on. Any two are equal and hash
/// alike, so that an agent may derive `PartialEq`, `Eq` and `Hash`.
///
/// A hook that holds an `Arc` of its own agent keeps that agent alive for ever: capture a
/// [`Weak`](std::sync::Weak), or use the agent that every hook gets as its first parameter.
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
/// # Ok::<(), hooks_core::RegistryError>(())
/// ```
#[derive(Default)]
pub struct Hooks {
    /// Tells this instance from all others, also from later ones at the same address. Zero until
    /// the first hooked call.
    id: AtomicU64,
    registry: OnceBox<Registry>,
}

impl Hooks {
    /// No hooks yet, and no allocation until there are some.
    #[must_use]
    pub const fn new() -> Self {
        Self { id: AtomicU64::new(0), registry: OnceBox::new() }
    }

    /// Says that the hooks of this instance are complete: calls then read them without a counter.
    ///
    /// Nothing else changes. Hooks may still be added and removed while calls run, and from the next call
    /// on that is so; calls then cost again what they cost without this, and to say it again does nothing.
    /// A hook that is removed later is dropped with the instance, where it would be dropped with the last
    /// call that has it: do not seal an instance whose hooks are removed to end something by their drop.
    ///
    /// Hooks of classes are never sealed, nor an instance that has a hook that [runs
    /// once](crate::HookOptions::once), which is dropped when it has run. A clone is not sealed.
    ///
    /// ```
    /// use hooks_core::{Hookable, Hooks, hookable};
    ///
    /// #[derive(Hookable, Default)]
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
    /// let counter = Counter::default();
    /// let double = |_: &Counter, args: &mut CounterCountArgs| args.from *= 2;
    /// counter.register_instance_hook(Counter::PRE_COUNT, "double", double);
    /// counter.hooks.seal();
    /// assert_eq!(counter.count(4), 9);
    /// counter.remove_instance_hook(Counter::PRE_COUNT, "double")?;
    /// assert_eq!(counter.count(4), 5);
    /// # Ok::<(), hooks_core::RegistryError>(())
    /// ```
    pub fn seal(&self) {
        if let Some(registry) = self.get() {
            registry.seal();
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Registry> {
        self.registry.get()
    }

    pub(crate) fn get_or_init(&self) -> &Registry {
        self.registry.get_or_init(Box::default)
    }

    /// The id of the instance.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        match self.id.load(Ordering::Relaxed) {
            0 => self.new_id(),
            id => id,
        }
    }

    #[cold]
    fn new_id(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let set = self.id.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
        set.map_or_else(|known| known, |_| id)
    }
}

impl Clone for Hooks {
    fn clone(&self) -> Self {
        let copy = Self::new();
        if let Some(registry) = self.get() {
            copy.get_or_init().copy_from(registry);
        }
        copy
    }
}

/// Hooks are not part of what an agent is: any two are equal.
impl PartialEq for Hooks {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Hooks {}

impl Hash for Hooks {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

// The table is replaced as a whole, by writers whose panics leave it as it was.
impl UnwindSafe for Hooks {}
impl RefUnwindSafe for Hooks {}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(registry) => registry.fmt(f),
            None => f.debug_map().finish(),
        }
    }
}

/// A type that has hooks; `#[derive(Hookable)]` implements it.
///
/// A hookable trait has it as a supertrait: unlike [`Hookable`](trait@crate::Hookable) it leaves
/// `dyn Trait` possible. Where a hookable trait is written with the supertrait `Hookable`, this one
/// is meant.
///
/// A type that wraps an agent may return the `Hooks` of the agent it wraps. Both then share their
/// instance hooks, and a call of the one inside a call of the other runs its own hooks: they are
/// different types, so that is not re-entrant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooks",
    note = "add a field of type `hooks_core::Hooks` to `{Self}` and derive it: `#[derive(Hookable)]`"
)]
pub trait HasHooks: 'static {
    /// The hooks of this instance.
    fn hooks(&self) -> &Hooks;

    /// The type of this instance, also where that is hidden behind `dyn Trait`.
    #[doc(hidden)]
    fn __hooks_type(&self) -> (TypeId, &'static str) {
        (TypeId::of::<Self>(), type_name::<Self>())
    }
}
