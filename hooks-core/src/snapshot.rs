//! The hooks of a point as they are at one moment.

use std::sync::Arc;

use crate::around::Link;
use crate::chain::{PointHooks, interest};
use crate::entry::Entry;
use crate::hook_type::{Level, Phase};
use crate::hookable::Hookable;
use crate::point::HookPoint;
use crate::registry::Registry;
use crate::slot::HookSlot;

pub(crate) type Snapshot<A, Args> = Option<Arc<PointHooks<A, Args>>>;

/// Whether the phase has hooks on any level.
#[inline]
pub(crate) fn has_hooks<A, Args>(agent: &A, phase: Phase) -> bool
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let bit = interest::<A, Args>(phase);
    agent.hooks().get().is_some_and(|registry| registry.has_interest(bit))
        || A::class().registry().has_interest(bit)
}

/// The hooks of the point as they are now, in the order of the levels, where the phase has some.
pub(crate) fn snapshots<A, Args>(agent: &A, phase: Phase) -> [(Level, Snapshot<A, Args>); 2]
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let bit = interest::<A, Args>(phase);
    let interested = |registry: &&Registry| registry.has_interest(bit);
    let instance = agent.hooks().get().filter(interested);
    let class = Some(A::class().registry()).filter(interested);
    [
        (Level::Instance, instance.and_then(Registry::snapshot)),
        (Level::Class, class.and_then(Registry::snapshot)),
    ]
}

/// The around hooks, outermost first.
pub(crate) fn around_links<A: HookPoint<Args>, Args: 'static>(
    snapshots: &[(Level, Snapshot<A, Args>); 2],
) -> Vec<Link<'_, A, Args>> {
    let chains = snapshots.iter().filter_map(|(level, hooks)| Some((*level, hooks.as_ref()?)));
    chains
        .flat_map(|(level, hooks)| hooks.around.entries().iter().map(move |entry| (level, entry)))
        .collect()
}

/// A copy of the arguments if a hook will want to see them once the body has consumed them. The
/// hooks are those that the call started with; a pre hook may have registered more.
pub(crate) fn keep<A, Args>(
    agent: &A,
    args: &Args,
    hooks: &[(Level, Snapshot<A, Args>); 2],
) -> Option<Args>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let is_wanted = |phase| has_hooks::<A, Args>(agent, phase);
    if !is_wanted(Phase::Post) && !is_wanted(Phase::Error) {
        return None;
    }
    let keep = keep_of(hooks)
        .or_else(|| keep_of(&snapshots(agent, Phase::Post)))
        .or_else(|| keep_of(&snapshots(agent, Phase::Error)));
    keep.map(|keep| keep(args))
}

/// How a hook that wants the arguments copies them.
fn keep_of<A: HookPoint<Args>, Args: 'static>(
    hooks: &[(Level, Snapshot<A, Args>); 2],
) -> Option<fn(&Args) -> Args> {
    hooks.iter().find_map(|(_, hooks)| {
        let hooks = hooks.as_ref()?;
        let post = hooks.post.entries().first().map(|entry| entry.hook.keep);
        post.or_else(|| hooks.error.entries().first().map(|entry| entry.hook.keep))
    })
}

/// Takes a hook that was to run once out of its registry.
pub(crate) fn remove_spent<A, Args, P>(agent: &A, level: Level, entry: &Entry<P>)
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
    P: HookSlot,
{
    if entry.is_spent() {
        let registry = match level {
            Level::Instance => agent.hooks().get_or_init(),
            Level::Class => A::class().registry(),
        };
        registry.edit(PointHooks::<A, Args>::remove_spent);
    }
}

/// Takes around hooks that were to run once out of their registries.
pub(crate) fn remove_spent_links<A, Args>(agent: &A, links: &[Link<'_, A, Args>])
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    for (level, entry) in links {
        remove_spent::<A, Args, _>(agent, *level, entry);
    }
}
