//! The newest commit of an index, whichever process made it.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use tantivy::schema::Field;
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher, TantivyError};

use crate::rag::error::KnowledgeError;
use crate::rag::text_index::failure::on_index;
use crate::rag::text_index::words::Language;

/// The file that each commit replaces.
const META: &str = "meta.json";

pub(super) struct Reader {
    reader: IndexReader,
    /// What the file of the commit was when it was read, and the languages of its documents.
    read: Mutex<(Option<Stamp>, Vec<Language>)>,
}

type Stamp = (SystemTime, u64);

/// A commit, and the languages of its documents.
pub(super) struct Commit {
    pub(super) searcher: Searcher,
    pub(super) languages: Vec<Language>,
}

impl Reader {
    pub(super) fn new(index: &Index) -> Result<Self, TantivyError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { reader, read: Mutex::default() })
    }

    /// Returns the newest commit.
    pub(super) fn newest(&self, folder: &Path, language: Field) -> Result<Commit, KnowledgeError> {
        let stamp = stamp(folder).map_err(|error| KnowledgeError::Index {
            index: folder.to_owned(),
            source: error.into(),
        })?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != Some(stamp) {
            on_index(folder, || self.reader.reload())?;
            let languages = on_index(folder, || languages(&self.reader.searcher(), language))?;
            *read = (Some(stamp), languages);
        }
        Ok(Commit { searcher: self.reader.searcher(), languages: read.1.clone() })
    }
}

fn stamp(folder: &Path) -> std::io::Result<Stamp> {
    let meta = fs::metadata(folder.join(META))?;
    Ok((meta.modified()?, meta.len()))
}

fn languages(searcher: &Searcher, field: Field) -> Result<Vec<Language>, TantivyError> {
    let mut languages = Vec::new();
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(field)?;
        let mut codes = index.terms().stream()?;
        while let Some((code, _)) = codes.next() {
            languages.extend(Language::of_code(code).filter(|it| !languages.contains(it)));
        }
    }
    Ok(languages)
}
