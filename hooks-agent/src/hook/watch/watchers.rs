//! Who watches the hooks of a call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::HookGroup;

use crate::call::CallContext;
use crate::hook::watch::hook_run::{HookRun, HookWatcher};

/// The watchers of a call, each by the group of the hook that brings it: those that there were when
/// the call started.
#[derive(Default)]
pub(crate) struct CallWatchers(Vec<(HookGroup, Arc<dyn HookWatcher>)>);

impl CallWatchers {
    pub(crate) fn add(&mut self, group: HookGroup, watcher: &Arc<dyn HookWatcher>) {
        self.0.push((group, watcher.clone()));
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
}

/// Returns whether somebody watches the hook of this group: none watches itself.
pub(super) fn is_watched(cx: &CallContext, group: HookGroup) -> bool {
    let watchers = CallWatchers::of(cx);
    watchers.is_some_and(|watchers| watchers.0.iter().any(|(of, _)| *of != group))
}

/// Tells the watchers of a call of a run of a hook.
pub(super) fn tell_watchers(run: &HookRun<'_>) {
    let watchers = CallWatchers::of(run.cx).into_iter().flat_map(|watchers| &watchers.0);
    for (_, watcher) in watchers.filter(|(of, _)| *of != run.info.group) {
        let told = catch_unwind(AssertUnwindSafe(|| watcher.hook_ran(run)));
        if told.is_err() {
            tracing::warn!(hook = run.hook(), event = run.event(), "a watcher panicked");
        }
    }
}
