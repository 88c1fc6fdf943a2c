//! A recorder of metrics that keeps their sums.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// Keeps the sums of metrics, by name and labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) sums: Arc<Mutex<BTreeMap<String, f64>>>,
    pub(crate) units: Arc<Mutex<BTreeMap<String, Option<Unit>>>>,
}

struct Meter(Page, String);

impl Page {
    fn meter(&self, key: &Key) -> Arc<Meter> {
        let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
        let labels = labels.collect::<Vec<_>>().join(",");
        Arc::new(Meter(self.clone(), format!("{}{{{labels}}}", key.name())))
    }

    pub(crate) fn sum(&self, name: &str) -> f64 {
        self.sums.lock().unwrap().get(name).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.sums.lock().unwrap().keys().cloned().collect()
    }

    fn describe(&self, key: &KeyName, unit: Option<Unit>) {
        self.units.lock().unwrap().insert(key.as_str().to_owned(), unit);
    }
}

impl Meter {
    fn add(&self, value: f64) {
        *self.0.sums.lock().unwrap().entry(self.1.clone()).or_default() += value;
    }
}

impl CounterFn for Meter {
    fn increment(&self, value: u64) {
        self.add(f64::from(u32::try_from(value).unwrap()));
    }

    fn absolute(&self, _: u64) {}
}

impl GaugeFn for Meter {
    fn increment(&self, value: f64) {
        self.add(value);
    }

    fn decrement(&self, value: f64) {
        self.add(-value);
    }

    fn set(&self, _: f64) {}
}

impl HistogramFn for Meter {
    fn record(&self, value: f64) {
        self.add(if self.1.contains("duration") || self.1.contains("time_to") {
            1.0
        } else {
            value
        });
    }
}

impl Recorder for Page {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.meter(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.meter(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.meter(key))
    }
}
