//! The capacity of the ring: runs, entries and bytes.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How much the ring keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    pub(crate) runs: usize,
    /// Of one run.
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { runs: 1_000, entries: 5_000, bytes: 64 << 20 }
    }
}

/// The capacity, as it is set.
#[derive(Debug)]
pub(super) struct Limits {
    runs: AtomicUsize,
    entries: AtomicUsize,
    bytes: AtomicUsize,
}

impl Default for Limits {
    fn default() -> Self {
        let Capacity { runs, entries, bytes } = Capacity::default();
        Self { runs: runs.into(), entries: entries.into(), bytes: bytes.into() }
    }
}

impl Limits {
    pub(super) fn set(&self, capacity: Capacity) {
        self.runs.store(capacity.runs.max(1), Ordering::Relaxed);
        self.entries.store(capacity.entries, Ordering::Relaxed);
        self.bytes.store(capacity.bytes, Ordering::Relaxed);
    }

    pub(super) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    pub(super) fn entries(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The most bytes of one entry.
    pub(super) fn entry_bytes(&self) -> usize {
        (self.bytes() / 8).clamp(4 << 10, 1 << 20)
    }
}
