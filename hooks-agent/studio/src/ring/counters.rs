//! The counters of all runs together, without a lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ring::capacity::Limits;

/// The numbers of entries, and the bytes that all of them take.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) limits: Limits,
    bytes: AtomicUsize,
    /// The number of the last entry.
    last: AtomicU64,
    /// The highest number that was given up: a reader that has not seen it is behind.
    dropped: AtomicU64,
    /// When the latest of the runs began that were given up, or when there was none yet.
    reaches_to: AtomicU64,
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Default for Counters {
    /// Numbers begin with the time, so that a number of an earlier process is older than all. They stay
    /// below 2^53, which JavaScript counts to.
    fn default() -> Self {
        let now = now();
        let first = now.saturating_mul(1_000) % (1 << 52);
        Self {
            limits: Limits::default(),
            bytes: AtomicUsize::new(0),
            last: AtomicU64::new(first),
            dropped: AtomicU64::new(first),
            reaches_to: AtomicU64::new(now),
        }
    }
}

impl Counters {
    /// Returns the number of the next entry.
    pub(super) fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(super) fn last(&self) -> u64 {
        self.last.load(Ordering::SeqCst)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn uncount(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes() > self.limits.bytes()
    }

    /// Notes that the entry of this number is gone.
    pub(super) fn drop_to(&self, seq: u64) {
        self.dropped.fetch_max(seq, Ordering::SeqCst);
    }

    /// Notes that a run is gone which began then.
    pub(super) fn drop_run(&self, started: u64) {
        self.reaches_to.fetch_max(started.saturating_add(1), Ordering::Relaxed);
    }

    pub(super) fn reaches_to(&self) -> u64 {
        self.reaches_to.load(Ordering::Relaxed)
    }

    /// Returns whether entries after this number are gone.
    pub(super) fn is_behind(&self, after: u64) -> bool {
        after < self.dropped.load(Ordering::SeqCst)
    }
}
