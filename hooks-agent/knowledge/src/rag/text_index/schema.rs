//! The schema of the index: the fields of passages and files.

use tantivy::TantivyDocument;
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions, Value,
};

use crate::rag::passage::Passage;

/// The name that an index has in its hashes: a new one, and every file is read again.
pub(super) const VERSION: &str = "hooks text index 1";

#[derive(Clone, Debug)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    /// The path of the document, of passages and files.
    pub(super) source: Field,
    /// Of passages: the words of text and title.
    pub(super) words: Field,
    pub(super) text: Field,
    pub(super) title: Field,
    pub(super) start: Field,
    pub(super) end: Field,
    pub(super) first_line: Field,
    pub(super) last_line: Field,
    /// The digest of the text, by which vectors are kept.
    pub(super) digest: Field,
    /// Of files: the hash of their content.
    pub(super) hash: Field,
    /// Of files: the language.
    pub(super) language: Field,
    /// Of each: [`PASSAGE`] or [`FILE`].
    pub(super) kind: Field,
}

pub(super) const PASSAGE: &str = "passage";
pub(super) const FILE: &str = "file";

impl Fields {
    pub(super) fn new() -> Self {
        let mut schema = SchemaBuilder::new();
        let words = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::WithFreqs);
        Self {
            source: schema.add_text_field("source", STRING | STORED),
            words: schema
                .add_text_field("words", TextOptions::default().set_indexing_options(words)),
            text: schema.add_text_field("text", STORED),
            title: schema.add_text_field("title", STORED),
            start: schema.add_u64_field("start", STORED),
            end: schema.add_u64_field("end", STORED),
            first_line: schema.add_u64_field("first_line", STORED),
            last_line: schema.add_u64_field("last_line", STORED),
            digest: schema.add_text_field("digest", STRING | STORED),
            hash: schema.add_text_field("hash", STORED),
            language: schema.add_text_field("language", STRING),
            kind: schema.add_text_field("kind", STRING),
            schema: schema.build(),
        }
    }

    /// Returns a text that the index stores.
    pub(super) fn stored_text<'a>(
        &self,
        stored: &'a TantivyDocument,
        field: Field,
    ) -> Option<&'a str> {
        stored.get_first(field)?.as_str()
    }

    /// Returns the passage that the index stores, without a score.
    pub(super) fn passage(&self, stored: &TantivyDocument) -> Option<Passage> {
        let text = |field| self.stored_text(stored, field);
        let number = |field| stored.get_first(field)?.as_u64().and_then(|n| n.try_into().ok());
        let lines = number(self.first_line).zip(number(self.last_line));
        let passage = Passage::new(text(self.text)?, text(self.source)?, 0.0)
            .with_range(number(self.start)?..number(self.end)?)
            .with_lines(lines.map(|(first, last)| first..=last))
            .with_title(text(self.title).map(str::to_owned));
        Some(passage)
    }
}
