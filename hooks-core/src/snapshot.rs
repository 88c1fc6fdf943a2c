//! The hooks of a point as they are at one moment.

use std::sync::Arc;

use crate::around::{Call, Link};
use crate::chain::{PointHooks, interest};
use crate::class::ClassHooks;
use crate::hook_type::{Level, Phase};
use crate::hookable::HasHooks;
use crate::place::Place;
use crate::point::HookPoint;
use crate::registry::Registry;

type Snapshot<A, Args> = Option<Arc<PointHooks<A, Args>>>;

/// The hooks of a call, by level; on each level those of the agent's type run first, then those of
/// the trait that the method is of.
pub(crate) struct Snapshots<A: HookPoint<Args>, Args: 'static> {
    own: [Snapshot<A, Args>; 2],
    base: [Snapshot<A::Base, Args>; 2],
}

impl<A: HasHooks + HookPoint<Args>, Args: 'static> Snapshots<A, Args> {
    /// The hooks as they are now, where the phase has some.
    pub(crate) fn take(agent: &A, phase: Phase) -> Self {
        let bit = interest::<A, Args>(phase);
        let interested = |registry: &&Registry| registry.has_interest(bit);
        let instance = agent.hooks().get().filter(interested);
        let class = Some(A::class().registry()).filter(interested);
        let own = [instance.and_then(Registry::snapshot), class.and_then(Registry::snapshot)];
        let base = match base_class(agent) {
            None => [None, None],
            Some(class) => {
                let class = Some(class.registry()).filter(interested);
                [instance.and_then(Registry::snapshot), class.and_then(Registry::snapshot)]
            }
        };
        Self { own, base }
    }

    /// The levels in their order, with the hooks of the agent's type and those of the trait.
    #[inline]
    pub(crate) fn levels<'a>(
        &'a self,
        agent: &'a A,
    ) -> impl Iterator<Item = LevelHooks<'a, A, Args>> {
        let levels = [Level::Instance, Level::Class].into_iter();
        levels.zip(self.own.iter().zip(&self.base)).map(|(level, (own, base))| {
            let base = agent.as_base().zip(base.as_deref());
            (Place { level, hooks: agent.hooks() }, own.as_deref(), base)
        })
    }

    /// The call with its around hooks.
    pub(crate) fn call<'a>(&'a self, agent: &'a A) -> Call<'a, A, Args> {
        let mut links = Vec::new();
        for (place, own, base) in self.levels(agent) {
            if let Some(hooks) = own {
                links.extend(hooks.around.entries().iter().map(|entry| Link::Own(place, entry)));
            }
            if let Some((_, hooks)) = base {
                let entries = hooks.around.entries().iter();
                links.extend(entries.map(|entry| Link::Base(place, entry)));
            }
        }
        Call { agent, links }
    }

    /// How a hook that wants the arguments copies them.
    fn keep(&self) -> Option<fn(&Args) -> Args> {
        let own = self.own.iter().flatten().find_map(|hooks| hooks.keep());
        own.or_else(|| self.base.iter().flatten().find_map(|hooks| hooks.keep()))
    }
}

/// A level, the hooks of the agent's type there, and those of the trait with the agent as that.
type LevelHooks<'a, A, Args> =
    (Place<'a>, Option<&'a PointHooks<A, Args>>, Option<BaseHooks<'a, A, Args>>);

type BaseHooks<'a, A, Args> =
    (&'a <A as HookPoint<Args>>::Base, &'a PointHooks<<A as HookPoint<Args>>::Base, Args>);

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

/// A copy of the arguments if a hook will want to see them once the body has consumed them. The
/// hooks are those that the call started with; a pre hook may have registered more.
pub(crate) fn keep<A, Args>(agent: &A, args: &Args, hooks: &Snapshots<A, Args>) -> Option<Args>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let is_wanted = |phase| has_hooks::<A, Args>(agent, phase);
    if !is_wanted(Phase::Post) && !is_wanted(Phase::Error) {
        return None;
    }
    let keep = hooks
        .keep()
        .or_else(|| Snapshots::take(agent, Phase::Post).keep())
        .or_else(|| Snapshots::take(agent, Phase::Error).keep());
    keep.map(|keep| keep(args))
}

/// Takes around hooks that were to run once, and have, out of their registries.
pub(crate) fn remove_spent_links<A: HookPoint<Args>, Args: 'static>(call: &Call<'_, A, Args>) {
    for link in &call.links {
        match link {
            Link::Own(place, entry) => place.remove_spent::<A, Args, _>(entry),
            Link::Base(place, entry) => place.remove_spent::<A::Base, Args, _>(entry),
        }
    }
}
