//! State that the clones of the hook share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::hook::{HookFlow, HookRun, HookWatcher};
use metrics::Recorder;

use crate::observe::meters::{AGENT, Labels, Meters, OUTCOME};
use crate::observe::monitoring::meters::{HOOK, SHADOW, describe};
use crate::observe::monitoring::snapshot::MonitoringSnapshot;
use crate::observe::names::Names;

/// The recorder, the values of labels, and the counts.
pub(super) struct Shared {
    pub(super) meters: Meters,
    pub(super) names: Names,
    counts: Mutex<MonitoringSnapshot>,
}

impl Shared {
    pub(super) fn new(recorder: Option<Arc<dyn Recorder + Send + Sync>>, most: usize) -> Self {
        let (meters, names) = (Meters::new(recorder, describe), Names::new(most));
        Self { meters, names, counts: Mutex::default() }
    }

    /// Counts what a hook in shadow would have done.
    fn count_shadow(&self, run: &HookRun<'_>, would: HookFlow) {
        self.counts().shadow += 1;
        let would = if would == HookFlow::Continue { "change" } else { would.as_str() };
        let agent = self.names.agent(run.context().agent_name());
        let labels = Labels::default().with(AGENT, agent).with(HOOK, self.names.hook(run.hook()));
        self.meters.count(SHADOW, &labels.with(OUTCOME, would));
    }

    pub(super) fn counts(&self) -> MutexGuard<'_, MonitoringSnapshot> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HookWatcher for Shared {
    fn hook_ran(&self, run: &HookRun<'_>) {
        if let Some(would) = run.would().filter(|_| !run.is_replayed()) {
            self.count_shadow(run, would);
        }
    }

    fn only_shadow(&self) -> bool {
        true
    }
}
