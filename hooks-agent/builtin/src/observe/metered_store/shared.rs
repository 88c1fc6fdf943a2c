//! The metrics of a store, and what they are counted from.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use metrics::{Recorder, Unit};

use crate::observe::meters::{AGENT, Labels, Meters, OUTCOME};
use crate::observe::names::Names;
use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Lease, Step, StoreError, ThreadKey};

const STEPS: &str = "hooks_agent.store.steps";
const BYTES: &str = "hooks_agent.store.bytes";
const COMMIT_DURATION: &str = "hooks_agent.store.commit.duration";
const WAITS: &str = "hooks_agent.store.lease_waits";
const WAIT_DURATION: &str = "hooks_agent.store.lease_wait.duration";
const TAKEOVERS: &str = "hooks_agent.store.takeovers";
const LOST: &str = "hooks_agent.store.leases_lost";

/// The recorder, the calls that wait for a lease, and the leases.
pub(super) struct Shared {
    pub(super) meters: Meters,
    names: Names,
    waits: Mutex<HashMap<(ThreadKey, RunId), Instant>>,
    /// The leases that are neither released nor known to be lost, by thread and fencing number.
    held: Mutex<HashSet<(i64, u64)>>,
}

impl Shared {
    pub(super) fn new(recorder: Option<Arc<dyn Recorder + Send + Sync>>, most: usize) -> Self {
        Self {
            meters: Meters::new(recorder, describe),
            names: Names::new(most),
            waits: Mutex::default(),
            held: Mutex::default(),
        }
    }

    pub(super) fn most(&self) -> usize {
        self.names.most()
    }

    /// Counts a step that was written, or was not.
    pub(super) fn commit(
        &self,
        lease: &Lease,
        step: &Step,
        time: Duration,
        written: &Result<(), StoreError>,
    ) {
        let outcome = if written.is_ok() { "ok" } else { "error" };
        let labels = self.labels(&lease.thread);
        self.meters.time(COMMIT_DURATION, &labels.with(OUTCOME, outcome), time);
        match written {
            Ok(()) => {
                self.meters.count(STEPS, &self.labels(&lease.thread));
                self.meters.add(BYTES, &self.labels(&lease.thread), bytes(step));
                if step.releases {
                    self.release(lease);
                }
            }
            Err(error) => self.lost_by(lease, error),
        }
    }

    /// Notes that a call waits for a lease.
    pub(super) fn wait(&self, thread: &ThreadKey, owner: RunId) {
        lock(&self.waits).entry((thread.clone(), owner)).or_insert_with(Instant::now);
    }

    /// Counts a lease that was granted.
    pub(super) fn grant(&self, lease: &Lease, is_takeover: bool) {
        lock(&self.held).insert((lease.row, lease.fence));
        self.end_wait(&lease.thread, lease.owner, "granted");
        if is_takeover {
            self.meters.count(TAKEOVERS, &self.labels(&lease.thread));
        }
    }

    /// Counts the end of a call's wait for a lease, if it waited.
    pub(super) fn end_wait(&self, thread: &ThreadKey, owner: RunId, outcome: &'static str) {
        let began = lock(&self.waits).remove(&(thread.clone(), owner));
        let Some(began) = began else { return };
        let labels = self.labels(thread).with(OUTCOME, outcome);
        self.meters.count(WAITS, &labels);
        self.meters.time(WAIT_DURATION, &labels, began.elapsed());
    }

    pub(super) fn release(&self, lease: &Lease) {
        lock(&self.held).remove(&(lease.row, lease.fence));
    }

    /// Counts a lease that was lost, once.
    pub(super) fn lost(&self, lease: &Lease) {
        if lock(&self.held).remove(&(lease.row, lease.fence)) {
            self.meters.count(LOST, &self.labels(&lease.thread));
        }
    }

    pub(super) fn lost_by(&self, lease: &Lease, error: &StoreError) {
        if matches!(error, StoreError::LeaseLost { .. }) {
            self.lost(lease);
        }
    }

    fn labels(&self, thread: &ThreadKey) -> Labels {
        Labels::default().with(AGENT, self.names.agent(thread.agent()))
    }
}

/// Returns the length of the messages of a step, as JSON.
fn bytes(step: &Step) -> u64 {
    let mut length = Length(0);
    for message in &step.messages {
        // What cannot be written is not counted.
        let _ = serde_json::to_writer(&mut length, &message.msg);
    }
    length.0
}

/// Counts what is written.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn describe(recorder: &dyn Recorder) {
    let counters = [
        (STEPS, Unit::Count, "Steps that were written."),
        (BYTES, Unit::Bytes, "Messages that were written, as JSON."),
        (WAITS, Unit::Count, "Calls that waited for the lease of a thread."),
        (TAKEOVERS, Unit::Count, "Leases that were taken over from an owner that ended."),
        (LOST, Unit::Count, "Leases that were lost to another owner."),
    ];
    for (name, unit, text) in counters {
        recorder.describe_counter(name.into(), Some(unit), text.into());
    }
    let durations = [
        (COMMIT_DURATION, "Duration of the commit of a step."),
        (WAIT_DURATION, "Duration of the wait for the lease of a thread."),
    ];
    for (name, text) in durations {
        recorder.describe_histogram(name.into(), Some(Unit::Seconds), text.into());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
