//! An open index.

use tantivy::Index;

use crate::rag::error::KnowledgeError;
use crate::rag::text_index::builder::TextIndexBuilder;
use crate::rag::text_index::reader::{Commit, Reader};
use crate::rag::text_index::schema::Fields;

/// An index of a folder: its settings, and how it is read.
pub(super) struct Opened {
    pub(super) settings: TextIndexBuilder,
    pub(super) index: Index,
    pub(super) fields: Fields,
    reader: Reader,
}

impl Opened {
    pub(super) fn new(
        settings: TextIndexBuilder,
        index: Index,
        fields: Fields,
        reader: Reader,
    ) -> Self {
        Self { settings, index, fields, reader }
    }

    /// Returns the newest commit, whichever process made it.
    pub(super) fn newest(&self) -> Result<Commit, KnowledgeError> {
        self.reader.newest(&self.settings.index, self.fields.language)
    }
}
