//! Records metrics: counters, gauges and histograms.

use std::array;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Recorder};

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
    /// The keys that were made, of which there are as many as values of labels.
    keys: Mutex<BTreeMap<Id, Arc<Key>>>,
}

/// A metric with its labels, by the addresses of the name and the values.
type Id = [usize; 1 + MOST];

/// How many labels a metric has at most.
const MOST: usize = 4;

impl Meters {
    /// `describe` is called once, with the first recorder.
    pub(super) fn new(
        recorder: Option<Arc<dyn Recorder + Send + Sync>>,
        describe: fn(&dyn Recorder),
    ) -> Self {
        let (is_described, failures) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { recorder, describe, is_described, failures, keys: Mutex::default() }
    }

    pub(super) fn recorder(&self) -> Option<Arc<dyn Recorder + Send + Sync>> {
        self.recorder.clone()
    }

    pub(super) fn count(&self, name: &'static str, labels: &Labels) {
        self.add(name, labels, 1);
    }

    pub(super) fn add(&self, name: &'static str, labels: &Labels, count: u64) {
        let key = self.key(name, labels);
        self.record(|recorder| recorder.register_counter(&key, &METADATA).increment(count));
    }

    pub(super) fn time(&self, name: &'static str, labels: &Labels, duration: Duration) {
        self.measure(name, labels, duration.as_secs_f64());
    }

    pub(super) fn measure(&self, name: &'static str, labels: &Labels, value: f64) {
        let key = self.key(name, labels);
        self.record(|recorder| recorder.register_histogram(&key, &METADATA).record(value));
    }

    /// Changes the gauge. Returns whether it was changed.
    pub(super) fn change(&self, name: &'static str, labels: &Labels, by: f64) -> bool {
        let key = self.key(name, labels);
        self.record(|recorder| recorder.register_gauge(&key, &METADATA).increment(by))
    }

    /// Returns the key of a metric with these labels, which is made once.
    fn key(&self, name: &'static str, labels: &Labels) -> Arc<Key> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.entry(labels.id(name)).or_insert_with(|| Arc::new(labels.key(name))).clone()
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
#[derive(Clone, Default)]
pub(super) struct Labels([Option<(&'static str, Value)>; MOST]);

/// The value of a label, which is at one address for as long as the metrics are.
#[derive(Clone)]
pub(super) enum Value {
    Fixed(&'static str),
    /// One of [`Names`](crate::observe::names::Names).
    Taken(Arc<str>),
}

impl From<&'static str> for Value {
    fn from(value: &'static str) -> Self {
        Self::Fixed(value)
    }
}

impl From<Arc<str>> for Value {
    fn from(value: Arc<str>) -> Self {
        Self::Taken(value)
    }
}

impl Value {
    fn address(&self) -> usize {
        match self {
            Self::Fixed(value) => value.as_ptr().addr(),
            Self::Taken(value) => value.as_ptr().addr(),
        }
    }
}

impl Labels {
    /// Adds a label; there is room for four.
    pub(super) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        if let Some(free) = self.0.iter_mut().find(|label| label.is_none()) {
            *free = Some((key, value.into()));
        }
        self
    }

    fn id(&self, name: &'static str) -> Id {
        let address = |label: &Option<(_, Value)>| label.as_ref().map_or(0, |(_, it)| it.address());
        array::from_fn(|at| match at.checked_sub(1) {
            None => name.as_ptr().addr(),
            Some(at) => self.0.get(at).map_or(0, address),
        })
    }

    fn key(&self, name: &'static str) -> Key {
        let labels = self.0.iter().flatten().map(|(key, value)| match value {
            Value::Fixed(value) => Label::new(*key, *value),
            Value::Taken(value) => Label::new(*key, value.clone()),
        });
        Key::from_parts(name, labels.collect::<Vec<_>>())
    }
}
