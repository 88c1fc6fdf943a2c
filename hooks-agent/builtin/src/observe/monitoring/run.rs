//! The state of a running call.

use std::sync::Arc;
use std::time::Instant;

use crate::observe::meters::{AGENT, Labels};
use crate::observe::monitoring::meters::IN_FLIGHT;
use crate::observe::monitoring::shared::Shared;

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

impl RunningModel {
    pub(super) fn new(name: &str, started: Instant) -> Self {
        Self { name: name.to_owned(), started, has_chunk: false }
    }
}

impl InFlight {
    pub(super) fn new(shared: &Arc<Shared>, agent: Arc<str>) -> Self {
        shared.counts().in_flight += 1;
        let labels = Labels::default().with(AGENT, agent.clone());
        let is_recorded = shared.meters.change(IN_FLIGHT, &labels, 1.0);
        Self { shared: shared.clone(), agent, is_recorded }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.shared.counts().in_flight -= 1;
        if self.is_recorded {
            let labels = Labels::default().with(AGENT, self.agent.clone());
            self.shared.meters.change(IN_FLIGHT, &labels, -1.0);
        }
    }
}
