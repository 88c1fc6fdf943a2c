//! Numbers turns and steps.

use std::collections::HashMap;

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::event::EventKind;

/// Counts the calls of each agent and the steps of each call; calls may overlap.
#[derive(Default)]
pub(super) struct Runs {
    turns: HashMap<String, u64>,
    runs: HashMap<RunId, Run>,
}

/// The current numbers of a call.
#[derive(Clone, Copy, Default)]
pub(super) struct Run {
    pub(super) turn: u64,
    pub(super) step: u64,
}

impl Runs {
    /// Returns the numbers of a written event: a call starts a turn at step 0, and each later event
    /// is a step. A call that a hook answered before its start event begins with its first event.
    pub(super) fn number(&mut self, kind: EventKind, cx: &CallContext, has_begins: bool) -> Run {
        let is_new = has_begins && !self.runs.contains_key(&cx.run_id());
        if kind == EventKind::PreCall || is_new {
            let turn = self.turns.entry(cx.agent_id().to_owned()).or_default();
            *turn += 1;
            let run = Run { turn: *turn, step: 0 };
            self.runs.insert(cx.run_id(), run);
            return run;
        }
        let run = self.runs.entry(cx.run_id()).or_default();
        run.step += 1;
        *run
    }

    /// Forgets a call that has ended.
    pub(super) fn forget(&mut self, cx: &CallContext) {
        self.runs.remove(&cx.run_id());
    }
}
