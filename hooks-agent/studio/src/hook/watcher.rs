//! Receives the runs of other hooks.

use hooks_agent_core::hook::{HookFlow, HookRun, HookWatcher};

use crate::hook::other_hooks::changes::{Ran, Showing};
use crate::hook::recorder::Recorder;

impl HookWatcher for Recorder {
    fn hook_ran(&self, run: &HookRun<'_>) {
        let cx = run.context();
        if run.is_shadow() {
            if let Some(log) = self.log_of(cx) {
                // What it would have done is in nothing that the event ends with.
                self.push_hooks(&log, Ran::write(vec![Ran::of(run)], &Showing::NOTHING));
            }
            return;
        }
        let Some(state) = self.claim(cx) else { return };
        let ran = Ran::of(run);
        let (event, tool_call) = (ran.event, ran.tool_call.clone());
        let mut kept = state.lock();
        let waits = !ran.changes.is_empty() || kept.pending.has(event, tool_call.as_deref());
        let is_cut =
            matches!(ran.flow, HookFlow::Failed | HookFlow::Panicked | HookFlow::Cancelled);
        // Around a call, and after its own turn, the hook does not see what the event ends with.
        let is_unseen = is_cut || !kept.is_to_see(event, tool_call.as_deref());
        let entries = if waits && !is_unseen {
            kept.pending.add(ran);
            Vec::new()
        } else {
            let mut entries = kept.pending.take_at(event, tool_call.as_deref(), &Showing::NOTHING);
            entries.extend(Ran::write(vec![ran], &Showing::NOTHING));
            entries
        };
        if let Some(log) = &kept.log {
            self.push_hooks(log, entries);
        }
    }
}
