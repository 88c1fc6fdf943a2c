//! The capacity of the ring: runs, entries and bytes.

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    pub(crate) runs: usize,
    /// The entries of a run.
    pub(crate) entries: usize,
    /// The bytes of all runs, as JSON.
    pub(crate) bytes: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { runs: 1_000, entries: 5_000, bytes: 64 << 20 }
    }
}

impl Capacity {
    /// Returns the bytes that one entry may have.
    pub(crate) fn entry_bytes(self) -> usize {
        (self.bytes / 8).clamp(4 << 10, 1 << 20)
    }
}
