//! State that the clones of the hook share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::Recorder;

use crate::observe::meters::Meters;
use crate::observe::monitoring::meters::describe;
use crate::observe::monitoring::snapshot::MonitoringSnapshot;
use crate::observe::names::Names;

/// The recorder, the values of labels, and the counts.
pub(super) struct Shared {
    pub(super) meters: Meters,
    pub(super) names: Names,
    counts: Mutex<MonitoringSnapshot>,
}

impl Shared {
    pub(super) fn new(recorder: Option<Arc<dyn Recorder + Send + Sync>>, most: usize) -> Self {
        let (meters, names) = (Meters::new(recorder, describe), Names::new(most));
        Self { meters, names, counts: Mutex::default() }
    }

    pub(super) fn counts(&self) -> MutexGuard<'_, MonitoringSnapshot> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
