//! The settings of an index.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::rag::blocking;
use crate::rag::error::KnowledgeError;
use crate::rag::text_index::folder::Only;
use crate::rag::text_index::index::TextIndex;

/// The settings of a [`TextIndex`]. Created by [`TextIndex::builder`].
#[derive(Clone)]
#[must_use = "an index is opened by `open`"]
pub struct TextIndexBuilder {
    pub(super) documents: PathBuf,
    pub(super) index: PathBuf,
    pub(super) passage_size: usize,
    pub(super) max_file_bytes: u64,
    pub(super) memory: usize,
    pub(super) only: Arc<Only>,
    is_search_only: bool,
}

/// The least memory of a writer of `tantivy`.
const LEAST_MEMORY: usize = 16 << 20;

impl TextIndexBuilder {
    pub(super) fn new(documents: PathBuf, index: PathBuf) -> Self {
        Self {
            documents,
            index,
            passage_size: 1000,
            max_file_bytes: 16 << 20,
            memory: 64 << 20,
            only: Arc::new(|_| true),
            is_search_only: false,
        }
    }

    /// Sets the most characters of a passage, at least 100.
    pub fn passage_size(mut self, characters: usize) -> Self {
        self.passage_size = characters.max(100);
        self
    }

    /// Sets the most bytes of a document. A larger one is skipped and reported.
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Sets the memory for words that are not written yet, at least 16 MiB. A document that is being
    /// read has its own.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes.max(LEAST_MEMORY);
        self
    }

    /// Sets which files and folders are read. The closure receives paths in the folder of documents; a
    /// folder that it refuses is not entered. What was in the index and is refused now is removed.
    pub fn only(mut self, only: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.only = Arc::new(only);
        self
    }

    /// Opens the index without reading the documents, for a process that only searches.
    pub fn search_only(mut self) -> Self {
        self.is_search_only = true;
        self
    }

    /// Opens the index and [refreshes](TextIndex::refresh) it. Creates the index and its folder if
    /// they are not there.
    ///
    /// # Errors
    /// As for [`TextIndex::open`].
    pub async fn open(self) -> Result<TextIndex, KnowledgeError> {
        let is_search_only = self.is_search_only;
        let index = blocking::run(move |abandoned| TextIndex::open_now(self, abandoned)).await?;
        if !is_search_only {
            let refreshed = index.refresh().await?;
            for skipped in &refreshed.skipped {
                let (source, reason) = (&*skipped.source, &*skipped.reason);
                tracing::warn!(target: "hooks_agent::builtin::knowledge", source, reason, "a document is not in the index");
            }
        }
        Ok(index)
    }
}

impl fmt::Debug for TextIndexBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextIndexBuilder")
            .field("documents", &self.documents)
            .field("index", &self.index)
            .field("passage_size", &self.passage_size)
            .field("max_file_bytes", &self.max_file_bytes)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}
