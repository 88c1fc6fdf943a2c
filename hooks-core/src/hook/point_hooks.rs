//! The hooks of one point on one level: a list per phase.

use std::any::TypeId;
use std::sync::Arc;

use crate::hook::list::{ErasedList, List};
use crate::hook::options::group::HookGroup;
use crate::hook_type::{Level, Phase};
use crate::point::hook_point::{AroundPoint, HookPoint};
use crate::point::hook_slot::{Around, HookSlot, OnError, OnSettled, Post, Pre};
use crate::registry::class::ClassHooks;
use crate::registry::hooks::Hooks;
use crate::registry::table::{ErasedHooks, Registry, Row};

/// The lists of every phase of one point.
pub(crate) struct PointHooks<A: ?Sized + HookPoint<Args>, Args: 'static> {
    pre: List<Pre<A, Args>>,
    around: List<Around<A, Args>>,
    post: List<Post<A, Args>>,
    error: List<OnError<A, Args>>,
    settled: List<OnSettled<A, Args>>,
    /// A bit per phase that has hooks.
    phases: u8,
    /// A bit per phase that has hooks which wait or have limits.
    waits: u8,
    is_limited: bool,
    /// What few calls need; nothing before there was a hook.
    rare: Option<Rare<A, Args>>,
}

/// How arguments are copied.
type CopyArgs<Args> = fn(&Args) -> Args;

/// Functions that are made where a hook is registered, so that methods without hooks do not carry them.
struct Rare<A: ?Sized + HookPoint<Args>, Args: 'static> {
    keep_args: fn(&PointHooks<A, Args>) -> Option<CopyArgs<Args>>,
    max_depth: fn(&PointHooks<A, Args>) -> Option<usize>,
    skipped: fn(&PointHooks<A, Args>) -> Vec<String>,
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Clone for Rare<A, Args> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Copy for Rare<A, Args> {}

/// The bit of a phase in a mask of phases.
pub(crate) const fn bit_of(phase: Phase) -> u8 {
    1 << phase as u8
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> PointHooks<A, Args> {
    /// A bit per phase that has hooks.
    #[inline]
    pub(crate) fn phases(&self) -> u8 {
        self.phases
    }

    /// A bit per phase that has hooks which wait or have limits.
    #[inline]
    pub(crate) fn waits(&self) -> u8 {
        self.waits
    }

    /// Whether hooks have limits.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// How a hook that will see the arguments after the body copies them.
    pub(crate) fn keep_args(&self) -> Option<CopyArgs<Args>> {
        (self.rare?.keep_args)(self)
    }

    /// How deep nested calls may go, by the hooks that run in them too; `None` if no hook does.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        (self.rare?.max_depth)(self)
    }

    /// Every hook that a nested call does not run, as `type name`.
    pub(crate) fn skipped(&self) -> Vec<String> {
        self.rare.map(|rare| (rare.skipped)(self)).unwrap_or_default()
    }

    fn find_keep_args(&self) -> Option<CopyArgs<Args>> {
        let post = || self.post.iter().find_map(|entry| entry.hook.keep_args);
        let error = || self.error.iter().find_map(|entry| entry.hook.keep_args);
        let settled = || self.settled.iter().find_map(|entry| entry.hook.keep_args);
        post().or_else(error).or_else(settled)
    }

    fn find_max_depth(&self) -> Option<usize> {
        self.lists().into_iter().filter_map(ErasedList::max_depth).min()
    }

    fn find_skipped(&self) -> Vec<String> {
        let skipped = self.rows().into_iter().filter(|row| !row.is_always);
        skipped.map(|row| format!("{} {}", row.hook_type, row.name)).collect()
    }

    fn lists(&self) -> [&dyn ErasedList; 5] {
        [&self.pre, &self.around, &self.post, &self.error, &self.settled]
    }

    /// A changed copy.
    fn changed(&self, change: impl FnMut(&mut dyn ErasedList)) -> Arc<Self> {
        let mut hooks = self.clone();
        hooks.change(change);
        Arc::new(hooks)
    }

    fn change(&mut self, change: impl FnMut(&mut dyn ErasedList)) {
        let lists: [&mut dyn ErasedList; 5] =
            [&mut self.pre, &mut self.around, &mut self.post, &mut self.error, &mut self.settled];
        lists.into_iter().for_each(change);
        self.count_phases();
    }

    fn count_phases(&mut self) {
        let filled = self.lists().into_iter().filter(|list| !list.is_empty());
        self.phases = filled.fold(0, |mask, list| mask | bit_of(list.phase()));
        let is_limited = self.lists().into_iter().any(ErasedList::is_limited);
        self.is_limited = is_limited;
        let waiting = self.lists().into_iter().filter(|list| list.waits());
        self.waits = waiting.fold(0, |mask, list| mask | bit_of(list.phase()));
        self.rare = Some(Rare {
            keep_args: Self::find_keep_args,
            max_depth: Self::find_max_depth,
            skipped: Self::find_skipped,
        });
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Default for PointHooks<A, Args> {
    fn default() -> Self {
        Self {
            pre: List::default(),
            around: List::default(),
            post: List::default(),
            error: List::default(),
            settled: List::default(),
            phases: 0,
            waits: 0,
            is_limited: false,
            rare: None,
        }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Clone for PointHooks<A, Args> {
    fn clone(&self) -> Self {
        Self {
            pre: self.pre.clone(),
            around: self.around.clone(),
            post: self.post.clone(),
            error: self.error.clone(),
            settled: self.settled.clone(),
            phases: self.phases,
            waits: self.waits,
            is_limited: self.is_limited,
            rare: self.rare,
        }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> ErasedHooks for PointHooks<A, Args> {
    fn agent(&self) -> TypeId {
        TypeId::of::<A>()
    }

    fn method(&self) -> &'static str {
        A::METHOD
    }

    fn interest(&self) -> u64 {
        if self.phases == 0 { 0 } else { interest::<A, Args>() }
    }

    fn runs_once(&self) -> bool {
        self.lists().into_iter().any(ErasedList::runs_once)
    }

    fn rows(&self) -> Vec<Row> {
        self.lists().into_iter().flat_map(ErasedList::rows).collect()
    }

    fn without(&self, phase: Phase, name: &str) -> Option<Arc<dyn ErasedHooks>> {
        let mut found = false;
        let hooks = self.changed(|list| found |= list.phase() == phase && list.remove(name));
        found.then_some(hooks as Arc<dyn ErasedHooks>)
    }

    fn without_group(&self, group: HookGroup) -> Option<(usize, Arc<dyn ErasedHooks>)> {
        let mut count = 0;
        let hooks = self.changed(|list| count += list.remove_group(group));
        (count > 0).then_some((count, hooks as Arc<dyn ErasedHooks>))
    }

    fn copied(&self) -> Arc<dyn ErasedHooks> {
        self.changed(|list| list.part())
    }

    fn cleared(&self, phase: Phase) -> Arc<dyn ErasedHooks> {
        self.changed(|list| {
            if list.phase() == phase {
                list.clear();
            }
        })
    }
}

/// The bit of a point in the interest mask of a registry.
pub(crate) const fn interest<A: ?Sized + HookPoint<Args>, Args>() -> u64 {
    1 << (A::INDEX % u64::BITS)
}

/// Where the hooks of a type are among those of their point.
pub(crate) trait Listed: HookSlot {
    fn list(hooks: &PointHooks<Self::Agent, Self::Args>) -> &List<Self>;
}

/// Takes hooks that were to run once, and have, out of their registry.
#[cold]
pub(crate) fn remove_spent<P: HookSlot>(level: Level, hooks: &Hooks) {
    let registry = match level {
        Level::Instance => hooks.get_or_init(),
        Level::Class => <P::Agent as HookPoint<P::Args>>::class().registry(),
    };
    registry.edit(|hooks: &mut PointHooks<P::Agent, P::Args>| {
        hooks.change(|list| list.remove_spent());
    });
}

/// A typed hook type of the agent `A`. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook type of `{A}`",
    label = "not a hook type of that agent",
    note = "the hook types of an agent are the constants that `#[hookable]` gives it: \
            `{A}::PRE_REPLY` for its method `reply`",
    note = "a hook of a trait is registered on the instance as that trait: `(&agent as &dyn \
            Trait).register_instance_hook(<dyn Trait>::PRE_REPLY, ..)`"
)]
pub trait HookTypeOf<A: ?Sized>: HookSlot {
    /// Changes the list of this type in a registry.
    #[doc(hidden)]
    fn edit(registry: &Registry, edit: impl FnOnce(&mut List<Self>));
    /// The class table of this type.
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
}

macro_rules! hook_type_of {
    ($($point:ident: $($slot:ident $list:ident),*);*) => {$($(
        impl<A: ?Sized + $point<Args>, Args: 'static> HookTypeOf<A> for $slot<A, Args> {
            fn edit(registry: &Registry, edit: impl FnOnce(&mut List<Self>)) {
                registry.edit(|hooks: &mut PointHooks<A, Args>| {
                    edit(&mut hooks.$list);
                    hooks.count_phases();
                });
            }

            fn class() -> &'static ClassHooks {
                A::class()
            }
        }

        impl<A: ?Sized + HookPoint<Args>, Args: 'static> Listed for $slot<A, Args> {
            #[inline]
            fn list(hooks: &PointHooks<A, Args>) -> &List<Self> {
                &hooks.$list
            }
        }
    )*)*};
}

hook_type_of! {
    HookPoint: Pre pre, Post post, OnError error, OnSettled settled;
    AroundPoint: Around around
}
