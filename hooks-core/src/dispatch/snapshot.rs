//! The hooks of a call: those that were there when it started.

use std::iter;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use crate::hook::entry::Entry;
use crate::hook::point_hooks::{Listed, PointHooks, bit_of, interest};
use crate::hook_type::Level;
use crate::point::call_mode::Position;
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::HookSlot;
use crate::registry::class::ClassHooks;
use crate::registry::hooks::HasHooks;
use crate::registry::table::{ErasedHooks, LoadedTable, Registry};

/// The tables of an instance, of its class, and of the class of the trait that the method is of, where
/// they have hooks of the method. Good for as long as nothing waits: no counter is touched for them.
pub(crate) struct Tables<'r> {
    instance: Option<LoadedTable<'r>>,
    class: Option<LoadedTable<'r>>,
    base_class: Option<LoadedTable<'r>>,
}

/// The hooks of a call, by level; on each level those of the agent's type run first, then those of
/// the trait that the method is of. `H` is how they are held.
pub(crate) struct Levels<A: ?Sized + HookPoint<Args>, Args: 'static, H: Hold> {
    own: [HeldHooks<H, A, Args>; 2],
    base: [HeldHooks<H, A::Base, Args>; 2],
}

type HeldHooks<H, A, Args> = Option<<H as Hold>::Held<PointHooks<A, Args>>>;

/// The hooks in tables.
pub(crate) type LoadedHooks<'h, A, Args> = Levels<A, Args, Borrowed<'h>>;

/// Hooks that are kept to the end of the call.
pub(crate) type Snapshot<A, Args> = Levels<A, Args, Shared>;

/// How hooks are held.
pub(crate) trait Hold {
    type Held<T: 'static>: Deref<Target = T>;
}

/// By reference.
pub(crate) struct Borrowed<'h>(PhantomData<&'h ()>);

/// By count.
pub(crate) enum Shared {}

impl<'h> Hold for Borrowed<'h> {
    type Held<T: 'static> = &'h T;
}

impl Hold for Shared {
    type Held<T: 'static> = Arc<T>;
}

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
pub(crate) fn is_hooked<P: HookSlot>(agent: &P::Agent) -> bool
where
    P::Agent: HasHooks,
{
    let tables = Tables::load::<P::Agent, P::Args>(agent);
    tables.hooks(agent).phases().0 != 0
}

/// Whether a call that starts now runs hooks of this type.
pub(crate) fn has_hooks<P: HookSlot>(agent: &P::Agent) -> bool
where
    P::Agent: HasHooks,
{
    let tables = Tables::load::<P::Agent, P::Args>(agent);
    tables.hooks(agent).phases().0 & bit_of(P::PHASE) != 0
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

    #[inline]
    fn each(&self) -> [Option<&LoadedTable<'r>>; 3] {
        [self.instance.as_ref(), self.class.as_ref(), self.base_class.as_ref()]
    }

    /// The hooks in them.
    #[inline]
    pub(crate) fn hooks<A: ?Sized + HookPoint<Args>, Args: 'static>(
        &self,
        agent: &A,
    ) -> LoadedHooks<'_, A, Args> {
        let [instance, class, base_class] = self.each();
        let base = agent.as_base().map(|_| [hooks_of(instance), hooks_of(base_class)]);
        Levels { own: [hooks_of(instance), hooks_of(class)], base: base.unwrap_or_default() }
    }
}

#[inline]
fn hooks_of<'t, T: ErasedHooks>(table: Option<&'t LoadedTable<'_>>) -> Option<&'t T> {
    table?.hooks_of()
}

#[inline]
fn keep<T: ErasedHooks>(hooks: Option<&T>, table: Option<&LoadedTable<'_>>) -> Option<Arc<T>> {
    hooks.and(table)?.shared_hooks_of()
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> LoadedHooks<'_, A, Args> {
    /// The same hooks, to be kept to the end of the call.
    #[inline]
    pub(crate) fn keep(&self, tables: &Tables<'_>) -> Snapshot<A, Args> {
        let [instance, class, base_class] = tables.each();
        Levels {
            own: [keep(self.own[0], instance), keep(self.own[1], class)],
            base: [keep(self.base[0], instance), keep(self.base[1], base_class)],
        }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static, H: Hold> Levels<A, Args, H> {
    /// A bit for each phase that has hooks, and for each whose hooks wait or have limits.
    // Loops and not iterators, here and below: each method of each agent has a copy of these.
    #[inline]
    pub(crate) fn phases(&self) -> (u8, u8) {
        let (mut phases, mut waits) = (0, 0);
        for hooks in self.own.iter().flatten() {
            phases |= hooks.lists.phases();
            waits |= hooks.lists.waits();
        }
        for hooks in self.base.iter().flatten() {
            phases |= hooks.lists.phases();
            waits |= hooks.lists.waits();
        }
        (phases, waits)
    }

    /// Whether hooks have limits.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.own.iter().flatten().any(|hooks| hooks.lists.is_limited())
            || self.base.iter().flatten().any(|hooks| hooks.lists.is_limited())
    }

    /// How deep nested calls may go, by the hooks that run in them too; `None` if no hook does.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        let mut depths = [None; 4];
        for (depth, hooks) in depths.iter_mut().zip(&self.own) {
            *depth = hooks.as_deref().and_then(|hooks| hooks.lists.max_depth());
        }
        for (depth, hooks) in depths.iter_mut().skip(2).zip(&self.base) {
            *depth = hooks.as_deref().and_then(|hooks| hooks.lists.max_depth());
        }
        depths.into_iter().flatten().min()
    }

    /// Every hook that a nested call does not run, as `type name`.
    pub(crate) fn skipped(&self) -> Vec<String> {
        let mut skipped = Vec::new();
        for hooks in self.own.iter().flatten() {
            skipped.extend(hooks.lists.skipped());
        }
        for hooks in self.base.iter().flatten() {
            skipped.extend(hooks.lists.skipped());
        }
        skipped
    }

    /// How hooks that will see the arguments after the body copy them.
    pub(crate) fn keep_args(&self) -> Option<fn(&Args) -> Args> {
        for hooks in &self.own {
            if let Some(keep_args) = hooks.as_deref().and_then(PointHooks::keep_args) {
                return Some(keep_args);
            }
        }
        for hooks in &self.base {
            if let Some(keep_args) = hooks.as_deref().and_then(PointHooks::keep_args) {
                return Some(keep_args);
            }
        }
        None
    }

    /// The hook at a position, or the next one behind it. Moves the position there.
    pub(crate) fn seek<'h, P, B>(
        &'h self,
        agent: &'h A,
        at: &mut Position,
    ) -> Option<Link<'h, P, B>>
    where
        P: Listed<Agent = A, Args = Args>,
        B: Listed<Agent = A::Base, Args = Args>,
    {
        while at.group < GROUPS {
            let level = level_of(at.group);
            let link = match (self.own_at(at.group), self.base_at(at.group), agent.as_base()) {
                (Some(hooks), _, _) => P::entries(hooks)
                    .and_then(|hooks| hooks.seek(at))
                    .map(|entry| Link::Own(level, agent, entry)),
                (_, Some(hooks), Some(base)) => B::entries(hooks)
                    .and_then(|hooks| hooks.seek(at))
                    .map(|entry| Link::Base(level, base, entry)),
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
        agent: &'h A,
        mut at: Position,
    ) -> impl Iterator<Item = (Position, Link<'h, P, B>)>
    where
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
    pub(crate) fn own_at(&self, group: u32) -> Option<&PointHooks<A, Args>> {
        if group.is_multiple_of(2) { self.own[(group / 2) as usize].as_deref() } else { None }
    }

    /// The hooks of the trait, if this group has them.
    #[inline]
    pub(crate) fn base_at(&self, group: u32) -> Option<&PointHooks<A::Base, Args>> {
        if group.is_multiple_of(2) { None } else { self.base[(group / 2) as usize].as_deref() }
    }
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
