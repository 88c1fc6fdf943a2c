//! How much is kept.

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin::connect::studio) struct Capacity {
    pub(in crate::builtin::connect::studio) runs: usize,
    /// The entries of a run.
    pub(in crate::builtin::connect::studio) entries: usize,
    /// The bytes of all runs, as JSON.
    pub(in crate::builtin::connect::studio) bytes: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { runs: 1_000, entries: 5_000, bytes: 64 << 20 }
    }
}

impl Capacity {
    /// Returns the bytes that one entry may have.
    pub(in crate::builtin::connect::studio) fn entry_bytes(self) -> usize {
        (self.bytes / 8).clamp(4 << 10, 1 << 20)
    }
}
