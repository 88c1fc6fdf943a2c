//! Records metrics: counters, gauges and histograms.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Recorder, SharedString};

/// The name of the agent, as a label.
pub(super) const AGENT: &str = "gen_ai.agent.name";
/// How something ended, as a label.
pub(super) const OUTCOME: &str = "outcome";

static METADATA: Metadata<'static> =
    Metadata::new("hooks_agent::metrics", Level::INFO, Some(module_path!()));

/// A recorder of the program, or the global one.
pub(super) struct Meters {
    recorder: Option<Arc<dyn Recorder + Send + Sync>>,
    describe: fn(&dyn Recorder),
    is_described: AtomicBool,
    failures: AtomicU64,
}

impl Meters {
    /// `describe` is called once, with the first recorder.
    pub(super) fn new(
        recorder: Option<Arc<dyn Recorder + Send + Sync>>,
        describe: fn(&dyn Recorder),
    ) -> Self {
        let (is_described, failures) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { recorder, describe, is_described, failures }
    }

    pub(super) fn recorder(&self) -> Option<Arc<dyn Recorder + Send + Sync>> {
        self.recorder.clone()
    }

    pub(super) fn count(&self, name: &'static str, labels: Labels) {
        self.add(name, labels, 1);
    }

    pub(super) fn add(&self, name: &'static str, labels: Labels, count: u64) {
        self.record(|recorder| {
            recorder.register_counter(&labels.key(name), &METADATA).increment(count);
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
                (self.describe)(recorder);
            }
            record(recorder);
        };
        let ended = catch_unwind(AssertUnwindSafe(|| match &self.recorder {
            Some(recorder) => run(&**recorder),
            None => metrics::with_recorder(run),
        }));
        if ended.is_err() && self.failures.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(target: "hooks_agent::builtin::observe", "a recorder of metrics panicked, later failures are counted only");
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
