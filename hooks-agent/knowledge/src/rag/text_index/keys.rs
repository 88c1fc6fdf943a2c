//! The passages of an index by the digests of their texts.

use std::path::Path;

use tantivy::collector::DocSetCollector;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{TantivyDocument, Term};

use crate::rag::blocking;
use crate::rag::digest::{Digest, parse, written};
use crate::rag::error::KnowledgeError;
use crate::rag::passage::Passage;
use crate::rag::text_index::failure::{damaged, on_index};
use crate::rag::text_index::index::TextIndex;

impl TextIndex {
    /// Returns the folder of the index.
    pub(crate) fn folder(&self) -> &Path {
        &self.opened.settings.index
    }

    /// Returns the digests of all passages.
    pub(crate) async fn digests(&self) -> Result<Vec<Digest>, KnowledgeError> {
        let opened = self.opened.clone();
        blocking::run(move |abandoned| {
            let (folder, field) = (&opened.settings.index, opened.fields.digest);
            let mut digests = Vec::new();
            for segment in opened.newest()?.searcher.segment_readers() {
                abandoned.check()?;
                let stored = on_index(folder, || {
                    // Each block of the store is decoded once.
                    let store = segment.get_store_reader(1)?;
                    let stored = store.iter::<TantivyDocument>(segment.alive_bitset());
                    let digest =
                        |stored| Ok(opened.fields.stored_text(&stored, field).map(str::to_owned));
                    stored
                        .map(|stored| stored.and_then(digest))
                        .collect::<tantivy::Result<Vec<_>>>()
                })?;
                // Files have none.
                for digest in stored.into_iter().flatten() {
                    let digest = parse(&digest).ok_or_else(|| damaged(folder, "a digest of it"))?;
                    digests.push(digest);
                }
            }
            Ok(digests)
        })
        .await
    }

    /// Returns the passages of these digests. Two documents may have the same text.
    pub(crate) async fn by_digests(
        &self,
        digests: Vec<Digest>,
    ) -> Result<Vec<(Digest, Passage)>, KnowledgeError> {
        let opened = self.opened.clone();
        blocking::run(move |_| {
            let (folder, fields) = (&opened.settings.index, &opened.fields);
            let searcher = opened.newest()?.searcher;
            let mut found = Vec::new();
            for digest in digests {
                let term = Term::from_field_text(fields.digest, &written(digest));
                let query = TermQuery::new(term, IndexRecordOption::Basic);
                let stored = on_index(folder, || {
                    let mut at: Vec<_> =
                        searcher.search(&query, &DocSetCollector)?.into_iter().collect();
                    at.sort();
                    at.into_iter().map(|at| searcher.doc(at)).collect::<tantivy::Result<Vec<_>>>()
                })?;
                let passages = stored.iter().filter_map(|stored| fields.passage(stored));
                found.extend(passages.map(|passage| (digest, passage)));
            }
            Ok(found)
        })
        .await
    }
}
