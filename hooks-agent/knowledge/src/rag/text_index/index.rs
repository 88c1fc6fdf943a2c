//! An index of a folder.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::schema::IndexRecordOption;
use tantivy::{Index, Term};

use crate::rag::blocking::{self, Abandoned};
use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::{Knowledge, KnowledgeFuture};
use crate::rag::lock::lock;
use crate::rag::text_index::builder::TextIndexBuilder;
use crate::rag::text_index::failure::{damaged, on_index};
use crate::rag::text_index::opened::Opened;
use crate::rag::text_index::reader::Reader;
use crate::rag::text_index::refresh::Refresh;
use crate::rag::text_index::refreshed::Refreshed;
use crate::rag::text_index::schema::{Fields, PASSAGE};
use crate::rag::text_index::search::search;

/// The file that the writer of an index locks.
const LOCK: &str = ".hooks-index.lock";

/// A full-text index of the documents in a folder, kept in a folder of its own. Requires feature
/// `knowledge`.
///
/// It reads Markdown (`.md`, `.markdown`), plain text (`.txt`, `.text`), HTML (`.html`, `.htm`,
/// `.xhtml`) and the text of PDF (`.pdf`), all but PDF in UTF-8, in the folder and the folders inside of
/// it. Hidden files and folders, and links, are left out. A passage ends at headings and between
/// paragraphs, and in the middle of one only if that is longer than a passage may be.
///
/// | setting | default |
/// |---|---|
/// | [`open`](Self::open): the folder of documents, the folder of the index | required |
/// | [`passage_size`](TextIndexBuilder::passage_size) | 1,000 characters |
/// | [`max_file_bytes`](TextIndexBuilder::max_file_bytes) | 16 MiB |
/// | [`memory`](TextIndexBuilder::memory) for words that are not written yet | 64 MiB |
/// | [`only`](TextIndexBuilder::only): which files and folders | all |
/// | [`search_only`](TextIndexBuilder::search_only) | the index is refreshed when it is opened |
///
/// # Words
/// Words are compared in one form of each letter (NFKC), in lower case, by the stem of the language
/// that their document is detected to be in; of a name such as `CallContext`, also its parts. Chinese,
/// Japanese, Korean, Thai, Lao, Burmese and Khmer are split into pairs of characters that overlap, which
/// needs no dictionary and finds new words.
///
/// # Scores
/// Passages are ordered by BM25. The score is the BM25 of the passage divided by the sum of the weights
/// (inverse document frequencies) of the words of the query, and at most 1. Words such as `the` and
/// `what` are left out. So 1 is a passage of average length that has every word once; words that are
/// rare weigh more, and words that no document has count against every passage, pairs of characters by a
/// quarter. With the default threshold of 0.35, the best passage has about a third of what the query
/// asks for, and the others at least 0.6 of what the best one has.
///
/// # Processes
/// Any number of processes search one index, and see a refresh by any of them at their next search. One
/// of them writes at a time: [`refresh`](Self::refresh) waits until no other does. The lock ends with
/// its process. A refresh that is killed, dropped or fails leaves the last commit, which is made
/// each 32 MiB of text and at the end; the next refresh goes on from there. The index must be on a disk
/// of the machine: locks of network file systems are not relied on.
///
/// # Errors
/// - [`KnowledgeError::Folder`]: the folder of documents cannot be read. The index stays as it was.
/// - [`KnowledgeError::Damaged`]: a file of the index is missing, cut off or of another version. It is not
///   deleted by itself, since the folder may be the wrong one: delete it, and opening builds it again.
///   Changed bytes in the middle of a file may go unnoticed.
/// - [`KnowledgeError::NotAnIndex`]: the folder of the index has other files.
/// - [`KnowledgeError::Index`]: files of the index cannot be read or written, such as on a full disk.
///
/// A document that cannot be read is none of these: it is in [`Refreshed::skipped`], and the others are
/// indexed. If it cannot be opened, the index keeps what it has of it; if it is too large, not UTF-8 or
/// no PDF, the index has nothing of it. A reader of PDF that panics is caught, but its message is
/// printed by the panic hook of the program.
///
/// ```
/// use hooks_agent::builtin::knowledge::{Knowledge, TextIndex};
///
/// # futures::executor::block_on(async {
/// # let folder = std::env::temp_dir().join(format!("hooks-text-index-{}", std::process::id()));
/// # let documents = folder.join("docs");
/// # std::fs::create_dir_all(&documents)?;
/// std::fs::write(documents.join("hours.md"), "# Hours\n\nThe office opens at nine.")?;
/// let index = TextIndex::open(&documents, folder.join("index")).await?;
/// let found = index.search("When do offices open?", 5).await?;
/// assert_eq!(found[0].source, "hours.md");
/// assert_eq!(found[0].lines, Some(1..=3));
///
/// std::fs::write(documents.join("lunch.txt"), "Lunch is served at twelve.")?;
/// let refreshed = index.refresh().await?;
/// assert_eq!((refreshed.added, refreshed.unchanged), (1, 1));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct TextIndex {
    pub(super) opened: Arc<Opened>,
}

impl TextIndex {
    /// Opens the index in the folder `index` and [refreshes](Self::refresh) it from the folder
    /// `documents`. Documents that are skipped are reported through `tracing`.
    ///
    /// # Errors
    /// See [the type](Self#errors).
    pub async fn open(
        documents: impl Into<PathBuf>,
        index: impl Into<PathBuf>,
    ) -> Result<Self, KnowledgeError> {
        Self::builder(documents, index).open().await
    }

    /// Returns the settings of an index in the folder `index` of the folder `documents`.
    pub fn builder(documents: impl Into<PathBuf>, index: impl Into<PathBuf>) -> TextIndexBuilder {
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
        let opened = Opened::new(settings, index, fields, reader);
        opened.newest()?;
        Ok(Self { opened: Arc::new(opened) })
    }

    /// Brings the index up to date: reads the documents whose content changed, by its hash, and removes
    /// those that vanished. Waits until no other process writes to the index. Dropping the future ends
    /// the refresh after the document that it reads.
    ///
    /// # Errors
    /// See [the type](Self#errors).
    pub async fn refresh(&self) -> Result<Refreshed, KnowledgeError> {
        let opened = self.opened.clone();
        blocking::run(move |abandoned| {
            let _lock = lock(&opened.settings.index, LOCK, abandoned)?;
            Refresh::run(&opened, abandoned)
        })
        .await
    }

    /// Returns the number of passages.
    ///
    /// # Errors
    /// [`KnowledgeError::Damaged`] and [`KnowledgeError::Index`].
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
