//! The hooks of one point on one level, as its calls find them.

use std::any::TypeId;
use std::sync::Arc;

use crate::dispatch::way::Way;
use crate::hook::entry::{Entries, Entry};
use crate::hook_type::{Level, Phase};
use crate::point::hook_point::{AroundPoint, HookPoint};
use crate::point::hook_slot::{Around, HookSlot, OnError, OnSettled, Post, Pre};
use crate::registry::class::ClassHooks;
use crate::registry::hooks::Hooks;
use crate::registry::list::{Lists, Place};
use crate::registry::table::{ErasedHooks, Registry};

/// The hooks of every phase of one point.
pub(crate) struct PointHooks<A: ?Sized + HookPoint<Args>, Args: 'static> {
    pre: Entries<Pre<A, Args>>,
    around: Entries<Around<A, Args>>,
    post: Entries<Post<A, Args>>,
    error: Entries<OnError<A, Args>>,
    settled: Entries<OnSettled<A, Args>>,
    pub(crate) lists: Lists,
    /// What calls do with them.
    pub(crate) way: Way<A, Args>,
}

/// How arguments are copied.
type CopyArgs<Args> = fn(&Args) -> Args;

/// The bit of a phase in a mask of phases.
pub(crate) const fn bit_of(phase: Phase) -> u8 {
    1 << phase as u8
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> PointHooks<A, Args> {
    /// How a hook that will see the arguments after the body copies them.
    pub(crate) fn keep_args(&self) -> Option<CopyArgs<Args>> {
        self.post.keep_args.or(self.error.keep_args).or(self.settled.keep_args)
    }

    /// The hooks of the lists.
    fn of(lists: Lists) -> Arc<dyn ErasedHooks> {
        Arc::new(Self {
            pre: Entries::of(lists.of(Phase::Pre)),
            around: Entries::of(lists.of(Phase::Around)),
            post: Entries::of(lists.of(Phase::Post)),
            error: Entries::of(lists.of(Phase::Error)),
            settled: Entries::of(lists.of(Phase::Settled)),
            lists,
            way: Way::new(),
        })
    }

    fn empty() -> Arc<dyn ErasedHooks> {
        Self::of(Lists::default())
    }

    /// Changes them in a registry.
    fn edit(registry: &Registry, edit: &mut dyn FnMut(&Lists) -> Lists) {
        registry.edit(TypeId::of::<Self>(), Self::empty, edit);
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> ErasedHooks for PointHooks<A, Args> {
    fn agent(&self) -> TypeId {
        TypeId::of::<A>()
    }

    fn method(&self) -> &'static str {
        A::METHOD
    }

    fn bit(&self) -> u64 {
        interest::<A, Args>()
    }

    fn lists(&self) -> &Lists {
        &self.lists
    }

    fn with(&self, lists: Lists) -> Arc<dyn ErasedHooks> {
        Self::of(lists)
    }
}

/// The bit of a point in the interest mask of a registry.
pub(crate) const fn interest<A: ?Sized + HookPoint<Args>, Args>() -> u64 {
    1 << (A::INDEX % u64::BITS)
}

/// Where the hooks of a type are among those of their point.
pub(crate) trait Listed: HookSlot {
    fn entries(hooks: &PointHooks<Self::Agent, Self::Args>) -> &Entries<Self>;
}

/// Takes hooks that were to run once, and have, out of their registry.
#[cold]
pub(crate) fn remove_spent<P: HookSlot>(level: Level, hooks: &Hooks) {
    let registry = match level {
        Level::Instance => hooks.get_or_init(),
        Level::Class => <P::Agent as HookPoint<P::Args>>::class().registry(),
    };
    PointHooks::<P::Agent, P::Args>::edit(registry, &mut Lists::without_spent);
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
    /// Adds a hook to a registry.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "implemented and called here only")]
    fn register(registry: &Registry, hook: Entry<Self>, place: Place);
    /// The class table of this type.
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
}

macro_rules! hook_type_of {
    ($($point:ident: $($slot:ident $entries:ident),*);*) => {$($(
        impl<A: ?Sized + $point<Args>, Args: 'static> HookTypeOf<A> for $slot<A, Args> {
            #[expect(private_interfaces, reason = "called here only")]
            fn register(registry: &Registry, hook: Entry<Self>, place: Place) {
                let hook = hook.registered();
                PointHooks::<A, Args>::edit(registry, &mut |lists| {
                    lists.with(hook.clone(), place, Entries::<Self>::build)
                });
            }

            fn class() -> &'static ClassHooks {
                A::class()
            }
        }

        impl<A: ?Sized + HookPoint<Args>, Args: 'static> Listed for $slot<A, Args> {
            #[inline]
            fn entries(hooks: &PointHooks<A, Args>) -> &Entries<Self> {
                &hooks.$entries
            }
        }
    )*)*};
}

hook_type_of! {
    HookPoint: Pre pre, Post post, OnError error, OnSettled settled;
    AroundPoint: Around around
}
