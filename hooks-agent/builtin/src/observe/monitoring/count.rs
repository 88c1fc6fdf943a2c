//! Counts the events of calls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::observe::meters::{AGENT, Labels, OUTCOME};
use crate::observe::monitoring::meters::{
    CALL_DURATION, CALLS, ERROR_TYPE, ERRORS, FIRST_CHUNK, MODEL, MODEL_DURATION, OPERATION,
    TOKEN_TYPE, TOKENS, TOOL, TOOL_CALLS, TOOL_DURATION,
};
use crate::observe::monitoring::run::{InFlight, Run, RunningModel};
use crate::observe::monitoring::shared::Shared;
use hooks_agent_core::event::{ErrorEvent, ErrorPhase, HookEvent, PostActing, Settled};
use hooks_agent_core::message::{Msg, Usage};
use hooks_agent_core::round::Control;

impl Shared {
    pub(super) fn count(self: &Arc<Self>, event: &HookEvent<'_>) {
        let run = event.context().hook_state::<Mutex<Run>>(Arc::as_ptr(self).addr());
        let run = &mut *run.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match event {
            HookEvent::PreCall(event) => {
                run.started.get_or_insert(now);
                let agent = self.names.agent(event.context().agent_name());
                run.in_flight.get_or_insert_with(|| InFlight::new(self, agent));
            }
            HookEvent::PreReasoning(event) => {
                self.names.offer(event.tools().iter().map(|tool| &*tool.name));
                let model = RunningModel::new(event.model_name(), now);
                run.model = is_free(event.control()).then_some(model);
            }
            HookEvent::PreSummary(event) => {
                run.model = Some(RunningModel::new(event.model_name(), now));
            }
            HookEvent::ReasoningChunk(event) => {
                self.first_chunk(run, event.context().agent_name(), now);
            }
            HookEvent::SummaryChunk(event) => {
                self.first_chunk(run, event.context().agent_name(), now);
            }
            HookEvent::PostReasoning(event) => {
                let agent = event.context().agent_name();
                self.answer(run, agent, event.model_name(), event.message(), now);
            }
            HookEvent::PostSummary(event) => {
                let agent = event.context().agent_name();
                self.answer(run, agent, event.model_name(), event.message(), now);
            }
            HookEvent::PreActing(event) if is_free(event.control()) => {
                run.tools.push((event.tool_use().id.clone(), now));
            }
            HookEvent::PostActing(event) => self.tool(run, event, now),
            HookEvent::Error(event) => self.error(run, event, now),
            HookEvent::Settled(event) => self.settle(run, event, now),
            _ => {}
        }
    }

    fn first_chunk(&self, run: &mut Run, agent: &str, now: Instant) {
        let Some(model) = run.model.as_mut().filter(|model| !model.has_chunk) else { return };
        model.has_chunk = true;
        let labels = self.model_labels(agent, &model.name);
        self.meters.time(FIRST_CHUNK, &labels, now.saturating_duration_since(model.started));
    }

    /// Counts an answer, unless it is a hook's.
    fn answer(&self, run: &mut Run, agent: &str, name: &str, msg: &Msg, now: Instant) {
        let Some(model) = run.model.take() else { return };
        self.counts().model_calls += 1;
        let duration = now.saturating_duration_since(model.started);
        let labels = self.model_labels(agent, name);
        self.meters.time(MODEL_DURATION, &labels, duration);
        if let Some(usage) = msg.usage {
            self.tokens(&labels, usage);
        }
    }

    fn tokens(&self, labels: &Labels, usage: Usage) {
        {
            let mut counts = self.counts();
            counts.input_tokens = counts.input_tokens.saturating_add(usage.input_tokens);
            counts.output_tokens = counts.output_tokens.saturating_add(usage.output_tokens);
        }
        for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
            let labels = labels.clone().with(TOKEN_TYPE, kind);
            // Exact up to 2^53 tokens.
            #[allow(clippy::cast_precision_loss)]
            self.meters.measure(TOKENS, &labels, tokens as f64);
        }
    }

    fn tool(&self, run: &mut Run, event: &PostActing<'_>, now: Instant) {
        let (call, is_error) = (event.tool_use(), event.tool_result().is_error);
        let outcome = match (event.has_run(), is_error) {
            (true, false) => "ok",
            (true, true) => "error",
            (false, false) => "answered",
            (false, true) => "refused",
        };
        {
            let mut counts = self.counts();
            counts.tool_calls += 1;
            counts.tool_errors += u64::from(outcome == "error");
            counts.tools_refused += u64::from(outcome == "refused");
        }
        let name = self.names.tool(&call.name, event.has_run());
        let labels = Labels::default().with(TOOL, name).with(OUTCOME, outcome);
        self.meters.count(TOOL_CALLS, &labels);
        let place = run.tools.iter().position(|(id, _)| *id == call.id);
        if let Some((_, started)) = place.map(|place| run.tools.remove(place))
            && event.has_run()
        {
            self.meters.time(TOOL_DURATION, &labels, now.saturating_duration_since(started));
        }
    }

    fn error(&self, run: &mut Run, event: &ErrorEvent<'_>, now: Instant) {
        self.counts().errors += 1;
        let (agent, kind) = (event.context().agent_name(), event.error_kind());
        let labels = Labels::default().with(AGENT, self.names.agent(agent));
        self.meters.count(ERRORS, &labels.with(ERROR_TYPE, kind));
        if !matches!(event.phase(), ErrorPhase::Reasoning | ErrorPhase::Summary) {
            return;
        }
        if let Some(model) = run.model.take() {
            self.counts().model_calls += 1;
            let labels = self.model_labels(agent, &model.name).with(ERROR_TYPE, kind);
            self.meters.time(MODEL_DURATION, &labels, now.saturating_duration_since(model.started));
        }
    }

    fn settle(&self, run: &mut Run, event: &Settled<'_>, now: Instant) {
        // Counted as running until here.
        drop(run.in_flight.take());
        run.model = None;
        run.tools.clear();
        let agent = self.names.agent(event.context().agent_name());
        let outcome = event.outcome().name();
        let duration = run.started.take().map(|started| now.saturating_duration_since(started));
        {
            let mut counts = self.counts();
            counts.count_call(event.outcome());
            counts.duration = counts.duration.saturating_add(duration.unwrap_or_default());
        }
        let labels = Labels::default().with(AGENT, agent).with(OUTCOME, outcome);
        self.meters.count(CALLS, &labels);
        if let Some(duration) = duration {
            self.meters.time(CALL_DURATION, &labels, duration);
        }
    }

    fn model_labels(&self, agent: &str, model: &str) -> Labels {
        let labels = Labels::default().with(AGENT, self.names.agent(agent));
        labels.with(MODEL, self.names.model(model)).with(OPERATION, "chat")
    }
}

/// Returns whether hooks let the model or the tool run.
fn is_free(control: &Control) -> bool {
    !control.is_stopped() && control.jumps_to().is_none() && !control.asks_permission()
}
