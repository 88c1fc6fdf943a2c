//! The hooks of a call as they are at one moment.

use std::iter;
use std::ops::Deref;
use std::sync::Arc;

use crate::chain::{ChainOf, PointHooks, interest};
use crate::class::ClassHooks;
use crate::entry::Entry;
use crate::hook_type::{Level, Phase};
use crate::hookable::HasHooks;
use crate::point::HookPoint;
use crate::registry::{LoadedTable, Registry};
use crate::slot::HookSlot;

/// The tables of an instance, of its class, and of the class of the trait that the method is of, where
/// the phase has hooks. Good for as long as nothing waits: no counter is touched for them.
pub(crate) struct Tables {
    instance: Option<LoadedTable>,
    class: Option<LoadedTable>,
    base_class: Option<LoadedTable>,
}

/// The hooks of a call, by level; on each level those of the agent's type run first, then those of
/// the trait that the method is of. `Own` and `Base` are how they are held.
pub(crate) struct Levels<Own, Base> {
    own: [Option<Own>; 2],
    base: [Option<Base>; 2],
}

/// The hooks in tables.
pub(crate) type LoadedHooks<'h, A, Args> =
    Levels<&'h PointHooks<A, Args>, &'h PointHooks<<A as HookPoint<Args>>::Base, Args>>;

/// Hooks that are kept while something waits.
pub(crate) type Snapshot<A, Args> =
    Levels<Arc<PointHooks<A, Args>>, Arc<PointHooks<<A as HookPoint<Args>>::Base, Args>>>;

/// A hook of a call: of the agent's type, or of the trait that the method is of.
pub(crate) enum Link<'h, P: HookSlot, B: HookSlot> {
    Own(Level, &'h Entry<P>),
    Base(Level, &'h Entry<B>),
}

impl<P: HookSlot, B: HookSlot> Link<'_, P, B> {
    /// Whether the hook is held to limits.
    pub(crate) fn is_limited(&self) -> bool {
        match self {
            Link::Own(_, entry) => entry.limits.is_some(),
            Link::Base(_, entry) => entry.limits.is_some(),
        }
    }
}

impl Tables {
    /// The tables as they are now.
    #[inline]
    pub(crate) fn load<A, Args>(agent: &A, phase: Phase) -> Self
    where
        A: HasHooks + HookPoint<Args>,
        Args: 'static,
    {
        let bit = interest::<A, Args>(phase);
        let load = |registry: &Registry| registry.has_interest(bit).then(|| registry.load());
        Self {
            instance: agent.hooks().get().and_then(load),
            class: load(A::class().registry()),
            base_class: base_class(agent).and_then(|class| load(class.registry())),
        }
    }

    /// The hooks in them.
    #[inline]
    pub(crate) fn hooks<A, Args>(&self, agent: &A) -> LoadedHooks<'_, A, Args>
    where
        A: HookPoint<Args>,
        Args: 'static,
    {
        let own = [&self.instance, &self.class];
        let base = [&self.instance, &self.base_class];
        let has_base = agent.as_base().is_some();
        Levels {
            own: own.map(|table| table.as_ref()?.point()),
            base: base.map(|table| table.as_ref().filter(|_| has_base)?.point()),
        }
    }

    /// The same hooks, to be kept while something waits.
    pub(crate) fn keep<A, Args>(&self, agent: &A) -> Snapshot<A, Args>
    where
        A: HookPoint<Args>,
        Args: 'static,
    {
        let own = [&self.instance, &self.class];
        let base = [&self.instance, &self.base_class];
        let has_base = agent.as_base().is_some();
        Levels {
            own: own.map(|table| table.as_ref()?.shared_point()),
            base: base.map(|table| table.as_ref().filter(|_| has_base)?.shared_point()),
        }
    }
}

/// A place among the hooks of a phase, in the order in which they run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cursor {
    /// Twice the level; one more for the hooks of the trait.
    group: usize,
    index: usize,
}

impl<Own, Base> Levels<Own, Base> {
    /// The hook at a place, which moves on to the next.
    #[inline]
    pub(crate) fn next<'h, A, Args, P, B>(&'h self, cursor: &mut Cursor) -> Option<Link<'h, P, B>>
    where
        A: HookPoint<Args>,
        Args: 'static,
        Own: Deref<Target = PointHooks<A, Args>>,
        Base: Deref<Target = PointHooks<A::Base, Args>>,
        P: ChainOf<A, Args> + 'h,
        B: ChainOf<A::Base, Args> + 'h,
    {
        while let Some(level) = [Level::Instance, Level::Class].get(cursor.group / 2) {
            let link = if cursor.group.is_multiple_of(2) {
                let hooks = self.own[cursor.group / 2].as_ref();
                let entry = hooks.and_then(|hooks| P::chain(hooks).entries().get(cursor.index));
                entry.map(|entry| Link::Own(*level, entry))
            } else {
                let hooks = self.base[cursor.group / 2].as_ref();
                let entry = hooks.and_then(|hooks| B::chain(hooks).entries().get(cursor.index));
                entry.map(|entry| Link::Base(*level, entry))
            };
            if link.is_some() {
                cursor.index += 1;
                return link;
            }
            *cursor = Cursor { group: cursor.group + 1, index: 0 };
        }
        None
    }

    /// The hooks of one phase in the order in which they run.
    pub(crate) fn links<'h, A, Args, P, B>(&'h self) -> impl Iterator<Item = Link<'h, P, B>>
    where
        A: HookPoint<Args>,
        Args: 'static,
        Own: Deref<Target = PointHooks<A, Args>>,
        Base: Deref<Target = PointHooks<A::Base, Args>>,
        P: ChainOf<A, Args> + 'h,
        B: ChainOf<A::Base, Args> + 'h,
    {
        let mut cursor = Cursor::default();
        iter::from_fn(move || self.next(&mut cursor))
    }
}

impl<A: HookPoint<Args>, Args: 'static> Snapshot<A, Args> {
    /// The hooks as they are now, where the phase has some.
    pub(crate) fn take(agent: &A, phase: Phase) -> Self
    where
        A: HasHooks,
    {
        Tables::load::<A, Args>(agent, phase).keep(agent)
    }
}

/// The class hooks of the trait that the method is of.
#[inline]
fn base_class<A: HookPoint<Args>, Args>(agent: &A) -> Option<&'static ClassHooks> {
    agent.as_base().map(|_| <A::Base as HookPoint<Args>>::class())
}

/// Whether one of the bits of a point is set on any level.
#[inline]
pub(crate) fn has_interest<A, Args>(agent: &A, bits: u64) -> bool
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    agent.hooks().get().is_some_and(|registry| registry.has_interest(bits))
        || A::class().registry().has_interest(bits)
        || base_class(agent).is_some_and(|class| class.registry().has_interest(bits))
}

/// Whether the phase has hooks on any level.
#[inline]
pub(crate) fn has_hooks<A, Args>(agent: &A, phase: Phase) -> bool
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    has_interest::<A, Args>(agent, interest::<A, Args>(phase))
}

/// A copy of the arguments if a hook will want to see them once the body has consumed them.
#[inline]
pub(crate) fn keep_args<A, Args>(agent: &A, args: &Args) -> Option<Args>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let bits = interest::<A, Args>(Phase::Post) | interest::<A, Args>(Phase::Error);
    if has_interest::<A, Args>(agent, bits) { copy_args(agent, args) } else { None }
}

fn copy_args<A, Args>(agent: &A, args: &Args) -> Option<Args>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let keep = |phase| {
        let tables = Tables::load::<A, Args>(agent, phase);
        let Levels { own, base } = tables.hooks(agent);
        let own = own.into_iter().flatten().find_map(PointHooks::keep);
        own.or_else(|| base.into_iter().flatten().find_map(PointHooks::keep))
    };
    keep(Phase::Post).or_else(|| keep(Phase::Error)).map(|keep| keep(args))
}
