//! What is kept of a running call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::builtin::observe::monitoring::meters::{AGENT, IN_FLIGHT, Labels};
use crate::builtin::observe::monitoring::shared::Shared;
use crate::call::{CallContext, RunId};

/// What is kept of a call in its context, so that it goes when the call does: one for each hook of
/// this kind, by its address.
pub(super) struct OfCall {
    run: RunId,
    runs: Mutex<Vec<(usize, Arc<Mutex<Run>>)>>,
}

#[derive(Default)]
pub(super) struct Run {
    pub(super) started: Option<Instant>,
    pub(super) in_flight: Option<InFlight>,
    /// The model that is running.
    pub(super) model: Option<RunningModel>,
    /// The tool calls that are running, by id.
    pub(super) tools: Vec<(String, Instant)>,
}

pub(super) struct RunningModel {
    pub(super) name: String,
    pub(super) started: Instant,
    pub(super) has_chunk: bool,
}

/// A call that is counted as running until this is dropped.
pub(super) struct InFlight {
    shared: Arc<Shared>,
    agent: Arc<str>,
    is_recorded: bool,
}

impl OfCall {
    /// Returns what the hook keeps of the call.
    pub(super) fn run(cx: &CallContext, hook: &Arc<Shared>) -> Arc<Mutex<Run>> {
        let address = Arc::as_ptr(hook).addr();
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

impl RunningModel {
    pub(super) fn new(name: &str, started: Instant) -> Self {
        Self { name: name.to_owned(), started, has_chunk: false }
    }
}

impl InFlight {
    pub(super) fn new(shared: &Arc<Shared>, agent: Arc<str>) -> Self {
        shared.counts().in_flight += 1;
        let labels = Labels::default().with(AGENT, agent.clone());
        let is_recorded = shared.meters.change(IN_FLIGHT, labels, 1.0);
        Self { shared: shared.clone(), agent, is_recorded }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.shared.counts().in_flight -= 1;
        if self.is_recorded {
            let labels = Labels::default().with(AGENT, self.agent.clone());
            self.shared.meters.change(IN_FLIGHT, labels, -1.0);
        }
    }
}
