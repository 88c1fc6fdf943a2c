//! The result of a refresh.

/// What [`TextIndex::refresh`](crate::TextIndex::refresh) did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// How many documents are new.
    pub added: usize,
    /// How many documents have other content than before.
    pub changed: usize,
    /// How many documents vanished.
    pub removed: usize,
    /// How many documents are as before.
    pub unchanged: usize,
    /// What is not in the index.
    pub skipped: Vec<Skipped>,
}

/// A file or folder that a refresh did not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The path in the folder of documents, with `/`.
    pub source: String,
    /// Why, for people.
    pub reason: String,
}

impl Skipped {
    pub(super) fn new(source: String, reason: String) -> Self {
        Self { source, reason }
    }
}
