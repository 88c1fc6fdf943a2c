//! What is kept of a running call.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::builtin::observe::audit_log::shared::Shared;
use crate::call::{CallContext, RunId};
use crate::message::{Msg, ToolUse};

/// What is kept of a call in its context, so that it goes when the call does: one for each log, by
/// its address.
pub(super) struct OfCall {
    run: RunId,
    runs: Mutex<Vec<(usize, Arc<Mutex<Run>>)>>,
}

#[derive(Default)]
pub(super) struct Run {
    /// Whether the model was asked, and has not answered yet.
    pub(super) is_asked: bool,
    /// The tool calls of the last answer, as the model wrote them.
    calls: Vec<ToolUse>,
}

impl OfCall {
    /// Returns what the log keeps of the call.
    pub(super) fn run(cx: &CallContext, log: &Arc<Shared>) -> Arc<Mutex<Run>> {
        let address = Arc::as_ptr(log).addr();
        let own = || cx.get::<Self>().filter(|of_call| of_call.run == cx.run_id());
        let of_call = own().or_else(|| {
            cx.insert(Self { run: cx.run_id(), runs: Mutex::default() });
            own()
        });
        let Some(of_call) = of_call else { return Arc::default() };
        let mut runs = of_call.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, run)) = runs.iter().find(|(of, _)| *of == address) {
            return run.clone();
        }
        let run = Arc::default();
        runs.push((address, Arc::clone(&run)));
        run
    }
}

impl Run {
    pub(super) fn answered(&mut self, msg: &Msg) {
        self.is_asked = false;
        self.calls = msg.tool_uses().cloned().collect();
    }

    /// Returns the call of this id, as the model wrote it.
    pub(super) fn written(&self, id: &str) -> Option<&ToolUse> {
        self.calls.iter().find(|call| call.id == id)
    }
}

/// Returns the keys at which the inputs differ. The values may be secrets that hooks added.
pub(super) fn changed_keys(written: &Value, ran: &Value) -> Vec<String> {
    let (Some(written), Some(ran)) = (written.as_object(), ran.as_object()) else {
        return if written == ran { Vec::new() } else { vec![String::new()] };
    };
    let changed = written.iter().filter(|(key, value)| ran.get(*key) != Some(value));
    let added = ran.keys().filter(|key| !written.contains_key(*key));
    changed.map(|(key, _)| key).chain(added).cloned().collect()
}
