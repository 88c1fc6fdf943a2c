//! Where the hooks of a call are registered.

use crate::chain::PointHooks;
use crate::entry::Entry;
use crate::hook_type::Level;
use crate::point::HookPoint;
use crate::registry::Hooks;
use crate::slot::HookSlot;

/// A level of the agent of a call.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) level: Level,
    pub(crate) hooks: &'a Hooks,
}

impl Place<'_> {
    /// Takes a hook that was to run once, and has, out of its registry.
    pub(crate) fn remove_spent<A, Args, P>(self, entry: &Entry<P>)
    where
        A: ?Sized + HookPoint<Args>,
        Args: 'static,
        P: HookSlot,
    {
        if entry.is_spent() {
            let registry = match self.level {
                Level::Instance => self.hooks.get_or_init(),
                Level::Class => A::class().registry(),
            };
            registry.edit(PointHooks::<A, Args>::remove_spent);
        }
    }
}
