//! The hooks of a call: those that were there when it started.

use std::any::type_name;
use std::{fmt, iter};

use crate::dispatch::point_hooks::{Listed, PointHooks, bit_of, interest};
use crate::dispatch::report::trace;
use crate::hook::entry::Entry;
use crate::hook_order::OrderFault;
use crate::hook_type::{HookType, Level};
use crate::point::call_mode::Position;
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::HookSlot;
use crate::registry::class::ClassHooks;
use crate::registry::hooks::HasHooks;
use crate::registry::list::{Lists, Masks};
use crate::registry::order;
use crate::registry::table::{ErasedHooks, LoadedTable, Registry};

/// The tables of an instance, of its class, and of the class of the trait that the method is of, where
/// they have hooks of the method.
pub struct Tables<'r> {
    instance: Option<LoadedTable<'r>>,
    class: Option<LoadedTable<'r>>,
    base_class: Option<LoadedTable<'r>>,
}

impl fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

/// The hooks of a call, by level; on each level those of the agent's type run first, then those of
/// the trait that the method is of.
pub(crate) struct Levels<'t, A: ?Sized + HookPoint<Args>, Args: 'static> {
    pub(crate) own: [Option<&'t PointHooks<A, Args>>; 2],
    pub(crate) base: [Option<&'t PointHooks<A::Base, Args>>; 2],
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Clone for Levels<'_, A, Args> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Copy for Levels<'_, A, Args> {}

/// A hook of a call with the agent that it runs on: as its own type, or as the trait that the method is
/// of.
pub(crate) enum Link<'h, P: HookSlot, B: HookSlot> {
    Own(Level, &'h P::Agent, &'h Entry<P>),
    Base(Level, &'h B::Agent, &'h Entry<B>),
}

/// Does the same for a hook of the agent's type and for one of the trait.
macro_rules! with_link {
    ($link:expr, |$level:pat, $agent:pat, $entry:ident| $do:expr) => {
        match $link {
            $crate::dispatch::snapshot::Link::Own($level, $agent, $entry) => $do,
            $crate::dispatch::snapshot::Link::Base($level, $agent, $entry) => $do,
        }
    };
}
pub(crate) use with_link;

impl<P: HookSlot, B: HookSlot> Link<'_, P, B> {
    /// Whether a call does not run the hook because it is nested.
    pub(crate) fn is_skipped(&self, is_nested: bool) -> bool {
        is_nested && with_link!(self, |_, _, entry| entry.registration.max_depth.is_none())
    }
}

/// Whether a call that starts now of the method of this hook type runs any hooks.
pub(crate) fn is_hooked<P: HookSlot<Agent: HasHooks>>(agent: &P::Agent) -> bool {
    let tables = Tables::load::<P::Agent, P::Args>(agent);
    tables.hooks::<P::Agent, P::Args>(agent).masks().phases != 0
}

/// Whether a call that starts now runs hooks of this type that may change something.
pub(crate) fn has_hooks<P: HookSlot<Agent: HasHooks>>(agent: &P::Agent) -> bool {
    let tables = Tables::load::<P::Agent, P::Args>(agent);
    tables.hooks::<P::Agent, P::Args>(agent).masks().acts & bit_of(P::PHASE) != 0
}

impl<'r> Tables<'r> {
    /// The tables as they are now.
    #[inline]
    pub(crate) fn load<A, Args>(agent: &'r A) -> Self
    where
        A: ?Sized + HasHooks + HookPoint<Args>,
        Args: 'static,
    {
        let bit = interest::<A, Args>();
        let load = |registry: &'r Registry| registry.has_interest(bit).then(|| registry.load());
        Self {
            instance: agent.hooks().get().and_then(load),
            class: load(A::class().registry()),
            base_class: base_class(agent).and_then(|class| load(class.registry())),
        }
    }

    /// Makes them such that they may be kept while something waits.
    #[inline]
    pub(crate) fn keep(&mut self) {
        let tables = [&mut self.instance, &mut self.class, &mut self.base_class];
        for table in tables.into_iter().flatten() {
            table.keep();
        }
    }

    /// The same tables, to be kept longer than the instance is borrowed.
    pub(crate) fn unsealed<'s>(self) -> Tables<'s> {
        let Self { instance, class, base_class } = self;
        let unseal = |table: Option<LoadedTable<'r>>| table.map(LoadedTable::unsealed);
        Tables { instance: unseal(instance), class: unseal(class), base_class: unseal(base_class) }
    }

    /// The tables for a call of the trait alone.
    pub(crate) fn of_base(self) -> Self {
        Self { class: self.base_class, base_class: None, ..self }
    }

    /// The hooks in them.
    #[inline]
    pub(crate) fn hooks<A: ?Sized + HookPoint<Args>, Args: 'static>(
        &self,
        agent: &A,
    ) -> Levels<'_, A, Args> {
        let [instance, class, base_class] =
            [self.instance.as_ref(), self.class.as_ref(), self.base_class.as_ref()];
        let base = match agent.as_base() {
            Some(_) => [hooks_of(instance), hooks_of(base_class)],
            None => [None, None],
        };
        Levels { own: [hooks_of(instance), hooks_of(class)], base }
    }
}

#[inline]
fn hooks_of<'t, T: ErasedHooks>(table: Option<&'t LoadedTable<'_>>) -> Option<&'t T> {
    table?.hooks_of()
}

impl<'t, A: ?Sized + HookPoint<Args>, Args: 'static> Levels<'t, A, Args> {
    #[inline]
    fn lists(&self) -> [Option<&'t Lists>; 4] {
        let [own, class] = self.own;
        let [base, base_class] = self.base;
        [
            own.map(|hooks| &hooks.lists),
            class.map(|hooks| &hooks.lists),
            base.map(|hooks| &hooks.lists),
            base_class.map(|hooks| &hooks.lists),
        ]
    }

    /// What is known of them without their types.
    // Straight on and not a loop: each call does this.
    #[inline]
    pub(crate) fn masks(&self) -> Masks {
        let [own, class, base, base_class] = self.lists();
        own.map_or_else(Masks::default, |lists| lists.masks)
            .and(class.map(|lists| lists.masks))
            .and(base.map(|lists| lists.masks))
            .and(base_class.map(|lists| lists.masks))
    }

    /// How deep nested calls may go, by the hooks that run in them too; `None` if no hook does.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        max_depth(self.lists())
    }

    /// Why the hooks cannot run in the order that they ask for.
    #[cold]
    pub(crate) fn order_fault(&self) -> Option<(HookType, OrderFault)> {
        let [own, class, base, base_class] = self.lists();
        order::fault([own, base, class, base_class])
    }

    /// Says which hooks a nested call of the agent does not run.
    pub(crate) fn trace_skipped(&self) {
        trace::skipped(type_name::<A>(), A::METHOD, self.lists());
    }

    /// A copy of the arguments, if hooks will see them after the body.
    // Straight on and not a loop, as above.
    #[inline]
    pub(crate) fn copy(self, args: &Args) -> Option<Args> {
        let ([own, class], [base, base_class]) = (self.own, self.base);
        let keep_args = match (own, class, base, base_class) {
            (Some(hooks), None, None, None) | (None, Some(hooks), None, None) => hooks.keep_args(),
            _ => own
                .and_then(PointHooks::keep_args)
                .or(class.and_then(PointHooks::keep_args))
                .or(base.and_then(PointHooks::keep_args))
                .or(base_class.and_then(PointHooks::keep_args)),
        };
        Some(keep_args?(args))
    }

    /// The hook at a position, or the next one behind it. Moves the position there.
    #[inline]
    pub(crate) fn seek<'h, P, B>(self, agent: &'h A, at: &mut Position) -> Option<Link<'h, P, B>>
    where
        't: 'h,
        P: Listed<Agent = A, Args = Args>,
        B: Listed<Agent = A::Base, Args = Args>,
    {
        while at.group < GROUPS {
            let level = level_of(at.group);
            let link = match (self.own_at(at.group), self.base_at(at.group), agent.as_base()) {
                (Some(hooks), _, _) => {
                    P::entries(hooks).seek(at).map(|entry| Link::Own(level, agent, entry))
                }
                (_, Some(hooks), Some(base)) => {
                    B::entries(hooks).seek(at).map(|entry| Link::Base(level, base, entry))
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
        self,
        agent: &'h A,
        mut at: Position,
    ) -> impl Iterator<Item = (Position, Link<'h, P, B>)>
    where
        't: 'h,
        P: Listed<Agent = A, Args = Args>,
        B: Listed<Agent = A::Base, Args = Args>,
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
    pub(crate) fn own_at(&self, group: u32) -> Option<&'t PointHooks<A, Args>> {
        if group.is_multiple_of(2) { self.own[(group / 2) as usize] } else { None }
    }

    /// The hooks of the trait, if this group has them.
    #[inline]
    pub(crate) fn base_at(&self, group: u32) -> Option<&'t PointHooks<A::Base, Args>> {
        if group.is_multiple_of(2) { None } else { self.base[(group / 2) as usize] }
    }
}

// Not generic: each method of each agent would have a copy.
fn max_depth(lists: [Option<&Lists>; 4]) -> Option<usize> {
    lists.into_iter().flatten().filter_map(Lists::max_depth).min()
}

/// Two a level: the hooks of the agent's type, then those of the trait.
pub(crate) const GROUPS: u32 = 4;

/// The level of a group.
#[inline]
pub(crate) const fn level_of(group: u32) -> Level {
    if group < 2 { Level::Instance } else { Level::Class }
}

/// The class hooks of the trait that the method is of.
#[inline]
fn base_class<A: ?Sized + HookPoint<Args>, Args>(agent: &A) -> Option<&'static ClassHooks> {
    agent.as_base().map(|_| <A::Base as HookPoint<Args>>::class())
}

/// Whether no hook is registered at the point on any level.
#[inline]
pub fn is_unhooked<A: ?Sized + HasHooks + HookPoint<Args>, Args: 'static>(agent: &A) -> bool {
    let bit = interest::<A, Args>();
    !(agent.hooks().get().is_some_and(|registry| registry.has_interest(bit))
        || A::class().registry().has_interest(bit)
        || base_class(agent).is_some_and(|class| class.registry().has_interest(bit)))
}
