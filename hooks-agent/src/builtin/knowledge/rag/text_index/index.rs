//! An index of a folder.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::schema::IndexRecordOption;
use tantivy::{Index, Term};

use crate::builtin::knowledge::rag::blocking::{self, Abandoned};
use crate::builtin::knowledge::rag::lock::lock;
use crate::builtin::knowledge::rag::text_index::failure::{damaged, on_index};
use crate::builtin::knowledge::rag::text_index::reader::{Commit, Reader};
use crate::builtin::knowledge::rag::text_index::refresh::Refresh;
use crate::builtin::knowledge::rag::text_index::schema::{Fields, PASSAGE};
use crate::builtin::knowledge::rag::text_index::search::search;
use crate::builtin::knowledge::{
    Knowledge, KnowledgeError, KnowledgeFuture, Refreshed, TextIndexBuilder,
};

/// The file that the writer of an index locks.
const LOCK: &str = ".hooks-index.lock";

/// A full-text index of the documents in a folder.
#[derive(Clone)]
pub struct TextIndex {
    pub(super) opened: Arc<Opened>,
}

pub(super) struct Opened {
    pub(super) settings: TextIndexBuilder,
    pub(super) index: Index,
    pub(super) fields: Fields,
    reader: Reader,
}

impl Opened {
    /// Returns the newest commit, whichever process made it.
    pub(super) fn newest(&self) -> Result<Commit, KnowledgeError> {
        self.reader.newest(&self.settings.index, self.fields.language)
    }
}

impl TextIndex {
    /// Opens the index in the folder `index` and refreshes it from the folder `documents`.
    pub async fn open(
        documents: impl Into<PathBuf>,
        index: impl Into<PathBuf>,
    ) -> Result<Self, KnowledgeError> {
        Self::builder(documents, index).open().await
    }

    /// Returns the settings of an index in the folder `index` of the folder `documents`.
    pub fn builder(
        documents: impl Into<PathBuf>,
        index: impl Into<PathBuf>,
    ) -> TextIndexBuilder {
        TextIndexBuilder::new(documents.into(), index.into())
    }

    pub(super) fn open_now(
        settings: TextIndexBuilder,
        abandoned: &Abandoned,
    ) -> Result<Self, KnowledgeError> {
        let fields = Fields::new();
        let folder = &settings.index;
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let index = {
            let _lock = lock(folder, LOCK, abandoned)?;
            if folder.join("meta.json").exists() {
                on_index(folder, || Index::open_in_dir(folder))?
            } else {
                check_empty(folder)?;
                on_index(folder, || Index::create_in_dir(folder, fields.schema.clone()))?
            }
        };
        if index.schema() != fields.schema {
            return Err(damaged(folder, "it has other fields"));
        }
        let reader = on_index(folder, || Reader::new(&index))?;
        let opened = Opened { settings, index, fields, reader };
        opened.newest()?;
        Ok(Self { opened: Arc::new(opened) })
    }

    /// Brings the index up to date: reads the documents whose content changed, and removes those that
    /// vanished.
    pub async fn refresh(&self) -> Result<Refreshed, KnowledgeError> {
        let opened = self.opened.clone();
        blocking::run(move |abandoned| {
            let _lock = lock(&opened.settings.index, LOCK, abandoned)?;
            Refresh::run(&opened, abandoned)
        })
        .await
    }

    /// Returns the number of passages.
    pub async fn passages(&self) -> Result<u64, KnowledgeError> {
        let opened = self.opened.clone();
        blocking::run(move |_| {
            let searcher = opened.newest()?.searcher;
            let kind = Term::from_field_text(opened.fields.kind, PASSAGE);
            let passages = tantivy::query::TermQuery::new(kind, IndexRecordOption::Basic);
            on_index(&opened.settings.index, || {
                searcher.search(&passages, &tantivy::collector::Count)
            })
            .map(|count| count as u64)
        })
        .await
    }
}

impl Knowledge for TextIndex {
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a> {
        let (opened, query) = (self.opened.clone(), query.to_owned());
        Box::pin(blocking::run(move |_| {
            let commit = opened.newest()?;
            search(&opened.settings.index, &opened.fields, &commit, &query, limit)
        }))
    }
}

/// Refuses a folder that has files of something else. Files that begin with a dot are what an index
/// leaves whose creation was cut off.
fn check_empty(folder: &Path) -> Result<(), KnowledgeError> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let is_own = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    for entry in entries {
        let entry = entry.map_err(|error| failed(folder, error))?;
        if !is_own(&entry.file_name()) {
            return Err(KnowledgeError::NotAnIndex { index: folder.to_owned() });
        }
    }
    Ok(())
}

fn failed(folder: &Path, error: std::io::Error) -> KnowledgeError {
    KnowledgeError::Index { index: folder.to_owned(), source: error.into() }
}

impl fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TextIndex").field(&self.opened.settings).finish()
    }
}
