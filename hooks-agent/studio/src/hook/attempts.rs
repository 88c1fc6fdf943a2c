//! Attempts to have an answer of a model, as the studio sees them: when they begin, say their first, and end.

use std::sync::Arc;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::ModelAttempt;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ModelAnswer, ModelError};

use crate::entry::{Asked, Attempt, Data, Failure, Shown};
use crate::hook::recorder::Recorder;
use crate::hook::run::{Kept, Run};
use crate::ring::{RunSummary, now};

/// An attempt that has begun. One that is dropped before its end was cancelled.
pub(super) struct Attempted {
    recorder: Arc<Recorder>,
    run: Arc<Run>,
    number: u32,
    model: Arc<str>,
    provider: Option<Arc<str>>,
    is_over: bool,
}

impl Attempted {
    pub(super) fn begin(recorder: Arc<Recorder>, run: Arc<Run>, of: &ModelAttempt<'_>) -> Self {
        let (number, model) = {
            let mut kept = run.lock();
            kept.attempts += 1;
            if kept.shows.requests {
                ask(&recorder, &mut kept, of);
            }
            let model = of.model_name();
            let same = kept.model.take().filter(|known| **known == *model);
            let model = same.unwrap_or_else(|| model.into());
            kept.model = Some(model.clone());
            (kept.attempts, model)
        };
        let retries = u64::from(number > 1);
        let attempt = Self { recorder, run, number, model, provider: None, is_over: false };
        let model = Some(attempt.model.clone());
        attempt.add("model_started", &Attempt { model, ..attempt.data() }, |run| {
            run.retries += retries;
        });
        attempt
    }

    /// Notes the first of an answer, and watches it to its end.
    pub(super) fn answered(mut self, answer: ModelAnswer) -> ModelAnswer {
        if *answer.model() != *self.model {
            self.model = answer.model().into();
        }
        self.provider = Some(answer.provider().into());
        let now = now();
        self.add("model_first", &self.data(), |run| {
            run.first_ms.get_or_insert(now.saturating_sub(run.started));
        });
        answer.watched(move |chunk| match chunk {
            Ok(ChatChunk::End { usage, .. }) => self.finished(*usage),
            Ok(_) => {}
            Err(error) => self.broke(error),
        })
    }

    /// Notes why there is no answer.
    pub(super) fn failed(mut self, error: &AgentError) {
        let shows_text = self.shows_text();
        self.fail(Failure::of_attempt(error, shows_text));
    }

    fn broke(&mut self, error: &ModelError) {
        let shows_text = self.shows_text();
        self.fail(Failure::of_model(error, shows_text));
    }

    fn finished(&mut self, usage: Usage) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let usage_of = Some(usage).filter(|usage| *usage != Usage::default());
        let (model, provider) = (Some(self.model.clone()), self.provider.clone());
        let prices = self.recorder.shared.settings.prices();
        let cost = prices.and_then(|prices| prices.cost(&self.model, usage));
        let data = Attempt { model, provider, usage: usage_of, cost, ..self.data() };
        self.add("model_finished", &data, |run| run.add_attempt(&self.model, Some(usage), cost));
    }

    fn fail(&mut self, failure: Failure) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let model = Some(self.model.clone());
        let data = Attempt { model, failure: Some(failure), ..self.data() };
        self.add("model_failed", &data, |run| run.add_attempt(&self.model, None, None));
    }

    fn shows_text(&self) -> bool {
        let kept = self.run.lock();
        kept.shows.errors && kept.is_shown()
    }

    fn data(&self) -> Attempt {
        Attempt {
            attempt: self.number,
            model: None,
            provider: None,
            usage: None,
            cost: None,
            failure: None,
        }
    }

    fn add(&self, kind: &'static str, data: &Attempt, update: impl FnOnce(&mut RunSummary)) {
        let kept = self.run.lock();
        self.recorder.add(&kept, kind, &Data::Attempt(data), update);
    }
}

/// Writes what a model is asked.
fn ask(recorder: &Recorder, kept: &mut Kept, of: &ModelAttempt<'_>) {
    // Answers that wait for a verdict are part of it.
    let is_shown = kept.is_request_shown() && !of.context().holds_answers();
    let most = is_shown.then(|| recorder.shared.ring.entry_bytes());
    let (number, before) = (kept.asked.0 + 1, kept.asked.1.take());
    let asked = Asked::of((number, kept.attempts), of.request(), before.as_ref());
    let shown = Shown::up_to(most, &asked);
    let is_whole = matches!(shown, Shown::Whole(_));
    recorder.add(kept, "model_request", &Data::Asked(shown), |_| {});
    // The next one is not the difference to one that is hidden.
    kept.asked = (number, is_whole.then(|| of.request().clone()));
}

impl Drop for Attempted {
    fn drop(&mut self) {
        self.fail(Failure::cancelled());
    }
}
