//! A snapshot of the counts.

use std::time::Duration;

use serde::Serialize;

use hooks_agent_core::agent::CallOutcome;

/// What a [`Monitoring`](crate::observe::Monitoring) counted since it was created, of all calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MonitoringSnapshot {
    /// The calls that ended.
    pub calls: u64,
    /// Those with a reply that were not interrupted.
    pub finished: u64,
    /// Those with an error.
    pub failed: u64,
    /// Those that were interrupted.
    pub interrupted: u64,
    /// Those whose future was dropped.
    pub cancelled: u64,
    /// Those that panicked.
    pub panicked: u64,
    /// The calls that run now.
    pub in_flight: u64,
    /// The answers and failures of models, in rounds and summaries.
    pub model_calls: u64,
    /// The tokens that were sent to models, as they reported.
    pub input_tokens: u64,
    /// The tokens that models sent, as they reported.
    pub output_tokens: u64,
    /// The tool calls that have a result, also those that did not run.
    pub tool_calls: u64,
    /// The tool calls that ran and have an error as result.
    pub tool_errors: u64,
    /// The tool calls that did not run and have an error as result.
    pub tools_refused: u64,
    /// The failures of models, tools and hooks, also those that a hook recovered.
    pub errors: u64,
    /// What hooks in shadow would have done: refusals, questions, changes and the like.
    pub shadow: u64,
    /// The sum of the durations of the calls.
    pub duration: Duration,
}

impl MonitoringSnapshot {
    /// Returns the sum of the tokens in both directions.
    #[must_use]
    pub const fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub(super) fn count_call(&mut self, outcome: &CallOutcome) {
        self.calls += 1;
        let counter = match outcome {
            CallOutcome::Finished(_) => &mut self.finished,
            CallOutcome::Interrupted => &mut self.interrupted,
            CallOutcome::Cancelled => &mut self.cancelled,
            CallOutcome::Panicked => &mut self.panicked,
            _ => &mut self.failed,
        };
        *counter += 1;
    }
}
