//! The store of one process.

/// The store of one process: threads live in its memory, and end with it.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {}
