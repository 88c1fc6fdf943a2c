//! The times of a running call.

use std::time::Duration;

use crate::observe::timing::times::{CallTiming, ModelTiming, RoundTiming, ToolTiming};

/// How many rounds, and how many tool calls, of a call are kept.
const MOST: usize = 1000;

/// The times of a call until now.
#[derive(Default)]
pub(super) struct Run {
    /// The time of the clock when the call started.
    start: Option<Duration>,
    timing: CallTiming,
    tools: usize,
}

impl Run {
    /// Returns the time since the start of the call, which is its first event.
    pub(super) fn since_start(&mut self, now: Duration) -> Duration {
        now.saturating_sub(*self.start.get_or_insert(now))
    }

    pub(super) fn timing(&mut self, now: Duration) -> &CallTiming {
        self.timing.total = self.since_start(now);
        &self.timing
    }

    pub(super) fn start_model(&mut self, now: Duration, model: &str) {
        let started = self.since_start(now);
        let model = ModelTiming { model: model.to_owned(), started, ..ModelTiming::default() };
        self.start_round(RoundTiming { started, model: Some(model), ..RoundTiming::default() });
    }

    /// Starts a round in which hooks decided that the model is not called.
    pub(super) fn skip_model(&mut self, now: Duration) {
        let started = self.since_start(now);
        self.start_round(RoundTiming { started, ..RoundTiming::default() });
    }

    fn start_round(&mut self, round: RoundTiming) {
        if self.timing.rounds.len() < MOST {
            self.timing.rounds.push(round);
        } else {
            self.timing.omitted += 1;
        }
    }

    /// Returns the model that is running.
    fn model(&mut self) -> Option<&mut ModelTiming> {
        let model = self.timing.rounds.last_mut()?.model.as_mut()?;
        model.total.is_none().then_some(model)
    }

    pub(super) fn chunk(&mut self, now: Duration) {
        let now = self.since_start(now);
        if let Some(model) = self.model() {
            model.chunk(now);
        }
    }

    /// Ends the model of the round. An answer without a model that runs is a hook's, in a round of
    /// its own.
    pub(super) fn end_model(&mut self, now: Duration, name: Option<&str>) {
        let now = self.since_start(now);
        match self.model() {
            Some(model) => model.end(now, name),
            None if name.is_some() => {
                self.start_round(RoundTiming { started: now, ..RoundTiming::default() });
                return;
            }
            None => {}
        }
        self.end_round(now);
    }

    pub(super) fn start_summary(&mut self, now: Duration, model: &str) {
        let started = self.since_start(now);
        let model = model.to_owned();
        self.timing.summary = Some(ModelTiming { model, started, ..ModelTiming::default() });
    }

    pub(super) fn summary_chunk(&mut self, now: Duration) {
        let now = self.since_start(now);
        if let Some(summary) = &mut self.timing.summary {
            summary.chunk(now);
        }
    }

    pub(super) fn end_summary(&mut self, now: Duration, name: Option<&str>) {
        let now = self.since_start(now);
        if let Some(summary) = self.timing.summary.as_mut().filter(|it| it.total.is_none()) {
            summary.end(now, name);
        }
    }

    pub(super) fn start_tool(&mut self, now: Duration, id: &str, tool: &str) {
        let started = self.since_start(now);
        if self.timing.rounds.is_empty() {
            self.start_round(RoundTiming { started, ..RoundTiming::default() });
        }
        if self.tools == MOST {
            self.timing.omitted += 1;
            return;
        }
        self.tools += 1;
        if let Some(round) = self.timing.rounds.last_mut() {
            let (id, tool) = (id.to_owned(), tool.to_owned());
            round.tools.push(ToolTiming { id, tool, started, total: None });
        }
    }

    /// Ends the tool call of this id that started first. One that a hook answered did not start.
    pub(super) fn end_tool(&mut self, now: Duration, id: &str) {
        let now = self.since_start(now);
        let tools = self.timing.rounds.last_mut().map(|round| round.tools.iter_mut());
        let mut open = tools.into_iter().flatten().filter(|tool| tool.total.is_none());
        if let Some(tool) = open.find(|tool| tool.id == id) {
            tool.total = Some(now.saturating_sub(tool.started));
            self.end_round(now);
        }
    }

    fn end_round(&mut self, now: Duration) {
        if let Some(round) = self.timing.rounds.last_mut() {
            round.total = now.saturating_sub(round.started);
        }
    }
}

impl ModelTiming {
    fn chunk(&mut self, now: Duration) {
        self.first_chunk.get_or_insert(now.saturating_sub(self.started));
    }

    fn end(&mut self, now: Duration, name: Option<&str>) {
        if let Some(name) = name.filter(|name| *name != self.model) {
            name.clone_into(&mut self.model);
        }
        self.total = Some(now.saturating_sub(self.started));
    }
}
