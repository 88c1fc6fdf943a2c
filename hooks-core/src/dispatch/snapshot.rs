//! The hooks of a call: those that were there when it started.

use std::iter;
use std::ops::Deref;
use std::sync::Arc;

use crate::hook::entry::Entry;
use crate::hook::point_hooks::{Listed, PointHooks, interest};
use crate::hook_type::Level;
use crate::point::call_mode::Position;
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::HookSlot;
use crate::registry::class::ClassHooks;
use crate::registry::hooks::HasHooks;
use crate::registry::table::{ErasedHooks, LoadedTable, Registry};

/// The tables of an instance, of its class, and of the class of the trait that the method is of, where
/// they have hooks of the method. Good for as long as nothing waits: no counter is touched for them.
pub(crate) struct Tables {
    instance: Option<LoadedTable>,
    class: Option<LoadedTable>,
    base_class: Option<LoadedTable>,
}

/// The hooks of a call, by level; on each level those of the agent's type run first, then those of
/// the trait that the method is of. `Own` and `Base` are how they are held.
#[derive(Clone)]
pub(crate) struct Levels<Own, Base> {
    own: [Option<Own>; 2],
    base: [Option<Base>; 2],
}

/// The hooks in tables.
pub(crate) type LoadedHooks<'h, A, Args> =
    Levels<&'h PointHooks<A, Args>, &'h PointHooks<<A as HookPoint<Args>>::Base, Args>>;

/// Hooks that are kept to the end of the call.
pub(crate) type Snapshot<A, Args> =
    Levels<Arc<PointHooks<A, Args>>, Arc<PointHooks<<A as HookPoint<Args>>::Base, Args>>>;

/// A hook of a call with the agent that it runs on: as its own type, or as the trait that the method is
/// of.
pub(crate) enum Link<'h, P: HookSlot, B: HookSlot> {
    Own(Level, &'h P::Agent, &'h Entry<P>),
    Base(Level, &'h B::Agent, &'h Entry<B>),
}

impl<'h, P: HookSlot, B: HookSlot> Link<'h, P, B> {
    pub(crate) fn name(&self) -> (Level, &'h str) {
        match self {
            Link::Own(level, _, entry) => (*level, &entry.name),
            Link::Base(level, _, entry) => (*level, &entry.name),
        }
    }

    /// How deep the hook may run in nested calls, if it does.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        match self {
            Link::Own(_, _, entry) => entry.max_depth,
            Link::Base(_, _, entry) => entry.max_depth,
        }
    }
}

impl Tables {
    /// The tables as they are now.
    #[inline]
    pub(crate) fn load<A, Args>(agent: &A) -> Self
    where
        A: HasHooks + HookPoint<Args>,
        Args: 'static,
    {
        let bit = interest::<A, Args>();
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
        let has_base = agent.as_base().is_some();
        Levels {
            own: [hooks_of(&self.instance), hooks_of(&self.class)],
            base: if has_base {
                [hooks_of(&self.instance), hooks_of(&self.base_class)]
            } else {
                [None, None]
            },
        }
    }
}

#[inline]
fn hooks_of<T: ErasedHooks>(table: &Option<LoadedTable>) -> Option<&T> {
    table.as_ref()?.hooks_of()
}

#[inline]
fn shared_hooks_of<T: ErasedHooks>(
    table: &Option<LoadedTable>,
    hooks: Option<&T>,
) -> Option<Arc<T>> {
    hooks.and(table.as_ref())?.shared_hooks_of()
}

impl<A: HookPoint<Args>, Args: 'static> LoadedHooks<'_, A, Args> {
    /// The same hooks, to be kept to the end of the call.
    #[inline]
    pub(crate) fn keep(&self, tables: &Tables) -> Snapshot<A, Args> {
        let Tables { instance, class, base_class } = tables;
        Levels {
            own: [shared_hooks_of(instance, self.own[0]), shared_hooks_of(class, self.own[1])],
            base: [
                shared_hooks_of(instance, self.base[0]),
                shared_hooks_of(base_class, self.base[1]),
            ],
        }
    }
}

impl<Own, Base> Levels<Own, Base> {
    /// A bit for each phase that has hooks.
    #[inline]
    pub(crate) fn phases<A, Args>(&self) -> u8
    where
        A: HookPoint<Args>,
        Args: 'static,
        Own: Deref<Target = PointHooks<A, Args>>,
        Base: Deref<Target = PointHooks<A::Base, Args>>,
    {
        let own = self.own.iter().flatten().fold(0, |mask, hooks| mask | hooks.phases());
        self.base.iter().flatten().fold(own, |mask, hooks| mask | hooks.phases())
    }

    /// How deep nested calls may go, by the hooks that run in them too; `None` if no hook does.
    pub(crate) fn max_depth<A, Args>(&self) -> Option<usize>
    where
        A: HookPoint<Args>,
        Args: 'static,
        Own: Deref<Target = PointHooks<A, Args>>,
        Base: Deref<Target = PointHooks<A::Base, Args>>,
    {
        let own = self.own.iter().flatten().filter_map(|hooks| hooks.max_depth());
        own.chain(self.base.iter().flatten().filter_map(|hooks| hooks.max_depth())).min()
    }

    /// Every hook that a nested call does not run, as `type name`.
    pub(crate) fn skipped<A, Args>(&self) -> Vec<String>
    where
        A: HookPoint<Args>,
        Args: 'static,
        Own: Deref<Target = PointHooks<A, Args>>,
        Base: Deref<Target = PointHooks<A::Base, Args>>,
    {
        let own = self.own.iter().flatten().flat_map(|hooks| hooks.rows());
        let rows = own.chain(self.base.iter().flatten().flat_map(|hooks| hooks.rows()));
        let skipped = rows.filter(|row| !row.is_always);
        skipped.map(|row| format!("{} {}", row.hook_type, row.name)).collect()
    }

    /// The hook at a position, or the next one behind it. Moves the position there.
    pub(crate) fn seek<'h, P, B>(
        &'h self,
        agent: &'h P::Agent,
        at: &mut Position,
    ) -> Option<Link<'h, P, B>>
    where
        P: Listed,
        B: Listed<Agent = <P::Agent as HookPoint<P::Args>>::Base, Args = P::Args>,
        Own: Deref<Target = PointHooks<P::Agent, P::Args>>,
        Base: Deref<Target = PointHooks<B::Agent, P::Args>>,
    {
        while at.group < GROUPS {
            let level = level_of(at.group);
            let link = match (self.own_at(at.group), self.base_at(at.group), agent.as_base()) {
                (Some(hooks), _, _) => {
                    P::list(hooks).seek(at).map(|entry| Link::Own(level, agent, entry))
                }
                (_, Some(hooks), Some(base)) => {
                    B::list(hooks).seek(at).map(|entry| Link::Base(level, base, entry))
                }
                _ => None,
            };
            if link.is_some() {
                return link;
            }
            *at = Position { group: at.group + 1, ..Position::default() };
        }
        None
    }

    /// The hooks of one type from a position on, in the order in which they run.
    pub(crate) fn links<'h, P, B>(
        &'h self,
        agent: &'h P::Agent,
        mut at: Position,
    ) -> impl Iterator<Item = (Position, Link<'h, P, B>)>
    where
        P: Listed,
        B: Listed<Agent = <P::Agent as HookPoint<P::Args>>::Base, Args = P::Args>,
        Own: Deref<Target = PointHooks<P::Agent, P::Args>>,
        Base: Deref<Target = PointHooks<B::Agent, P::Args>>,
    {
        iter::from_fn(move || {
            let link = self.seek(agent, &mut at)?;
            let found = at;
            at = at.next();
            Some((found, link))
        })
    }

    /// The hooks of the agent's type, if this group has them.
    #[inline]
    pub(crate) fn own_at(&self, group: u32) -> Option<&Own> {
        if group.is_multiple_of(2) { self.own[(group / 2) as usize].as_ref() } else { None }
    }

    /// The hooks of the trait, if this group has them.
    #[inline]
    pub(crate) fn base_at(&self, group: u32) -> Option<&Base> {
        if group.is_multiple_of(2) { None } else { self.base[(group / 2) as usize].as_ref() }
    }
}

/// Two a level: the hooks of the agent's type, then those of the trait.
pub(crate) const GROUPS: u32 = 4;

/// The level of a group.
#[inline]
pub(crate) const fn level_of(group: u32) -> Level {
    if group < 2 { Level::Instance } else { Level::Class }
}

impl<A: HookPoint<Args>, Args: 'static> Snapshot<A, Args> {
    /// How many hooks of a type there are.
    pub(crate) fn count<P, B>(&self) -> usize
    where
        P: Listed<Agent = A, Args = Args>,
        B: Listed<Agent = A::Base, Args = Args>,
    {
        let own = self.own.iter().flatten().map(|hooks| P::list(hooks).iter().count());
        own.chain(self.base.iter().flatten().map(|hooks| B::list(hooks).iter().count())).sum()
    }

    /// How a hook that will see the arguments after the body copies them.
    pub(crate) fn keep_args(&self) -> Option<fn(&Args) -> Args> {
        let own = self.own.iter().flatten().find_map(|hooks| hooks.keep_args());
        own.or_else(|| self.base.iter().flatten().find_map(|hooks| hooks.keep_args()))
    }
}

/// The class hooks of the trait that the method is of.
#[inline]
fn base_class<A: HookPoint<Args>, Args>(agent: &A) -> Option<&'static ClassHooks> {
    agent.as_base().map(|_| <A::Base as HookPoint<Args>>::class())
}

/// Whether no hook is registered at the point on any level.
#[inline]
pub fn is_unhooked<A: HasHooks + HookPoint<Args>, Args: 'static>(agent: &A) -> bool {
    let bit = interest::<A, Args>();
    !(agent.hooks().get().is_some_and(|registry| registry.has_interest(bit))
        || A::class().registry().has_interest(bit)
        || base_class(agent).is_some_and(|class| class.registry().has_interest(bit)))
}
