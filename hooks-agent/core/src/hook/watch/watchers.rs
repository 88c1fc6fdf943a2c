//! Who watches the hooks of a call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::HookGroup;

use crate::call::CallContext;
use crate::hook::watch::hook_run::{HookRun, HookWatcher};

/// The watchers of a call, each by the group of the hook that brings it: those that there were when
/// the call started.
#[derive(Default)]
pub(crate) struct CallWatchers(Vec<Watching>);

struct Watching {
    group: HookGroup,
    watcher: Arc<dyn HookWatcher>,
    /// Whether it receives the runs of hooks in shadow alone.
    only_shadow: bool,
}

impl CallWatchers {
    pub(crate) fn add(&mut self, group: HookGroup, watcher: &Arc<dyn HookWatcher>) {
        // One that panics is told of all runs.
        let asked = catch_unwind(AssertUnwindSafe(|| watcher.only_shadow()));
        let only_shadow = asked.unwrap_or(false);
        self.0.push(Watching { group, watcher: watcher.clone(), only_shadow });
    }

    /// Has them watch the hooks of a call.
    pub(crate) fn watch(self, cx: &CallContext) {
        if !self.0.is_empty() {
            cx.set_watchers(Arc::new(self));
        }
    }

    fn of(cx: &CallContext) -> Option<&Self> {
        cx.watchers()?.downcast_ref()
    }

    /// Returns the watchers of a run of the hook of this group, each once: none watches a hook that brings it.
    fn of_hook(
        &self,
        group: HookGroup,
        is_shadow: bool,
    ) -> impl Iterator<Item = &Arc<dyn HookWatcher>> {
        let is_same = |one: &Watching, other: &Watching| {
            std::ptr::addr_eq(Arc::as_ptr(&one.watcher), Arc::as_ptr(&other.watcher))
        };
        let watchers = self.0.iter().enumerate().filter(move |(index, own)| {
            let brings = |other: &Watching| other.group == group && is_same(own, other);
            let mut earlier = self.0.iter().take(*index);
            (is_shadow || !own.only_shadow)
                && !self.0.iter().any(brings)
                && !earlier.any(|other| is_same(own, other))
        });
        watchers.map(|(_, own)| &own.watcher)
    }
}

/// Returns whether somebody watches the hook of this group where it is not in shadow: none watches itself.
pub(super) fn is_watched(cx: &CallContext, group: HookGroup) -> bool {
    CallWatchers::of(cx).is_some_and(|watchers| watchers.of_hook(group, false).next().is_some())
}

/// Tells the watchers of a call of a run of a hook.
pub(crate) fn tell_watchers(run: &HookRun<'_>) {
    let watchers = CallWatchers::of(run.cx).into_iter();
    for watcher in watchers.flat_map(|watchers| watchers.of_hook(run.info.group, run.is_shadow)) {
        let told = catch_unwind(AssertUnwindSafe(|| watcher.hook_ran(run)));
        if told.is_err() {
            tracing::warn!(
                target: "hooks_agent::hook",
                hook = run.hook(), event = run.event(), "a watcher panicked"
            );
        }
    }
}
