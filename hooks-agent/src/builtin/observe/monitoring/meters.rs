//! The metrics, by name, and how they are recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Recorder, SharedString, Unit};

pub(super) const CALLS: &str = "hooks_agent.calls";
pub(super) const IN_FLIGHT: &str = "hooks_agent.calls_in_flight";
pub(super) const TOOL_CALLS: &str = "hooks_agent.tool_calls";
pub(super) const ERRORS: &str = "hooks_agent.errors";
pub(super) const CALL_DURATION: &str = "gen_ai.invoke_agent.duration";
pub(super) const MODEL_DURATION: &str = "gen_ai.client.operation.duration";
pub(super) const FIRST_CHUNK: &str = "gen_ai.client.operation.time_to_first_chunk";
pub(super) const TOOL_DURATION: &str = "gen_ai.execute_tool.duration";
pub(super) const TOKENS: &str = "gen_ai.client.token.usage";

pub(super) const AGENT: &str = "gen_ai.agent.name";
pub(super) const MODEL: &str = "gen_ai.response.model";
pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const OUTCOME: &str = "outcome";

static METADATA: Metadata<'static> =
    Metadata::new("hooks_agent::metrics", Level::INFO, Some(module_path!()));

/// A recorder of the program, or the global one.
pub(super) struct Meters {
    recorder: Option<Arc<dyn Recorder + Send + Sync>>,
    is_described: AtomicBool,
    failures: AtomicU64,
}

impl Meters {
    pub(super) fn new(recorder: Option<Arc<dyn Recorder + Send + Sync>>) -> Self {
        Self { recorder, is_described: AtomicBool::new(false), failures: AtomicU64::new(0) }
    }

    pub(super) fn recorder(&self) -> Option<Arc<dyn Recorder + Send + Sync>> {
        self.recorder.clone()
    }

    pub(super) fn count(&self, name: &'static str, labels: Labels) {
        self.record(|recorder| {
            recorder.register_counter(&labels.key(name), &METADATA).increment(1);
        });
    }

    pub(super) fn time(&self, name: &'static str, labels: Labels, duration: Duration) {
        self.measure(name, labels, duration.as_secs_f64());
    }

    pub(super) fn measure(&self, name: &'static str, labels: Labels, value: f64) {
        self.record(|recorder| {
            recorder.register_histogram(&labels.key(name), &METADATA).record(value);
        });
    }

    /// Changes the gauge. Returns whether it was changed.
    pub(super) fn change(&self, name: &'static str, labels: Labels, by: f64) -> bool {
        self.record(|recorder| {
            recorder.register_gauge(&labels.key(name), &METADATA).increment(by);
        })
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Records something. A recorder that panics is reported once.
    fn record(&self, record: impl FnOnce(&dyn Recorder)) -> bool {
        let run = |recorder: &dyn Recorder| {
            if !self.is_described.swap(true, Ordering::Relaxed) {
                describe(recorder);
            }
            record(recorder);
        };
        let ended = catch_unwind(AssertUnwindSafe(|| match &self.recorder {
            Some(recorder) => run(&**recorder),
            None => metrics::with_recorder(run),
        }));
        if ended.is_err() && self.failures.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("a recorder of metrics panicked, later failures are counted only");
        }
        ended.is_ok()
    }
}

/// The labels of a metric.
#[derive(Default)]
pub(super) struct Labels(Vec<Label>);

impl Labels {
    pub(super) fn with(mut self, key: &'static str, value: impl Into<SharedString>) -> Self {
        self.0.push(Label::new(key, value));
        self
    }

    fn key(self, name: &'static str) -> Key {
        Key::from_parts(name, self.0)
    }
}

fn describe(recorder: &dyn Recorder) {
    let counters = [
        (CALLS, "Calls of agents that ended."),
        (TOOL_CALLS, "Tool calls that have a result."),
        (ERRORS, "Failures of models, tools and hooks."),
    ];
    for (name, text) in counters {
        recorder.describe_counter(name.into(), Some(Unit::Count), text.into());
    }
    let text = "Calls of agents that run.";
    recorder.describe_gauge(IN_FLIGHT.into(), Some(Unit::Count), text.into());
    let durations = [
        (CALL_DURATION, "Duration of a call of an agent."),
        (MODEL_DURATION, "Duration of a call of a model."),
        (FIRST_CHUNK, "Time to the first chunk of a model's answer."),
        (TOOL_DURATION, "Duration of a tool call that ran."),
    ];
    for (name, text) in durations {
        recorder.describe_histogram(name.into(), Some(Unit::Seconds), text.into());
    }
    let text = "Tokens of a call of a model.";
    recorder.describe_histogram(TOKENS.into(), Some(Unit::Count), text.into());
}
