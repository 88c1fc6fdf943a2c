//! Brings an index up to date with a folder.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;

use tantivy::collector::DocSetCollector;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{IndexWriter, TantivyDocument, Term};

use crate::rag::blocking::Abandoned;
use crate::rag::digest;
use crate::rag::documents::{Document, Piece};
use crate::rag::error::KnowledgeError;
use crate::rag::text_index::builder::TextIndexBuilder;
use crate::rag::text_index::failure::on_index;
use crate::rag::text_index::folder::{self, File};
use crate::rag::text_index::opened::Opened;
use crate::rag::text_index::refreshed::{Refreshed, Skipped};
use crate::rag::text_index::schema::{FILE, PASSAGE, VERSION};
use crate::rag::text_index::words;
use crate::rag::text_index::words::Language;

/// How much text is read between two commits.
const COMMIT_EVERY: usize = 32 << 20;

/// A refresh that runs. What is not committed when it is dropped is not in the index.
pub(super) struct Refresh<'a> {
    opened: &'a Opened,
    /// The hashes of the files in the index, by source. What is left of them vanished.
    known: HashMap<String, String>,
    writer: Option<IndexWriter>,
    uncommitted: usize,
    refreshed: Refreshed,
}

/// What a file is now.
enum Content {
    Unchanged,
    Vanished,
    /// It cannot be read now. What the index has of it stays.
    Unreadable(String),
    Refused(String),
    Read {
        hash: String,
        document: Document,
    },
}

impl<'a> Refresh<'a> {
    /// Refreshes the index. Requires its lock.
    pub(super) fn run(
        opened: &'a Opened,
        abandoned: &Abandoned,
    ) -> Result<Refreshed, KnowledgeError> {
        let folder = &opened.settings.documents;
        let unreadable = |source| KnowledgeError::Folder { folder: folder.clone(), source };
        let listing = folder::list(folder, &*opened.settings.only).map_err(unreadable)?;
        let known = known(opened)?;
        let mut refresh = Self {
            opened,
            known,
            writer: None,
            uncommitted: 0,
            refreshed: Refreshed { skipped: listing.skipped, ..Refreshed::default() },
        };
        for file in &listing.files {
            abandoned.check()?;
            refresh.file(file)?;
        }
        // Files that could not be found because the folder vanished meanwhile did not vanish.
        fs::read_dir(folder).map_err(unreadable)?;
        refresh
            .known
            .retain(|source, _| !listing.unreadable.iter().any(|it| source.starts_with(it)));
        refresh.remove_vanished()?;
        refresh.finish()
    }

    fn file(&mut self, file: &File) -> Result<(), KnowledgeError> {
        let known = self.known.get(&file.source);
        match read(file, known.map(String::as_str), &self.opened.settings) {
            Content::Unchanged => {
                self.known.remove(&file.source);
                self.refreshed.unchanged += 1;
            }
            Content::Vanished => {}
            Content::Unreadable(reason) => {
                self.known.remove(&file.source);
                self.skip(file, reason);
            }
            Content::Refused(reason) => self.skip(file, reason),
            Content::Read { hash, document } => {
                match self.known.remove(&file.source) {
                    Some(_) => self.refreshed.changed += 1,
                    None => self.refreshed.added += 1,
                }
                self.replace(&file.source, hash, &document)?;
            }
        }
        Ok(())
    }

    fn skip(&mut self, file: &File, reason: String) {
        self.refreshed.skipped.push(Skipped::new(file.source.clone(), reason));
    }

    /// Replaces the passages of a file.
    fn replace(
        &mut self,
        source: &str,
        hash: String,
        document: &Document,
    ) -> Result<(), KnowledgeError> {
        let opened = self.opened;
        let fields = &opened.fields;
        let language = Language::of_text(&document.text);
        self.remove(source)?;
        for piece in &document.pieces {
            let passage = passage(opened, source, document, piece, language);
            self.write(|writer| writer.add_document(passage))?;
        }
        let mut file = TantivyDocument::new();
        file.add_text(fields.kind, FILE);
        file.add_text(fields.source, source);
        file.add_text(fields.hash, hash);
        file.add_text(fields.language, language.code());
        self.write(|writer| writer.add_document(file))?;
        self.uncommitted += document.text.len();
        if self.uncommitted >= COMMIT_EVERY {
            self.write(IndexWriter::commit)?;
            self.uncommitted = 0;
        }
        Ok(())
    }

    fn remove_vanished(&mut self) -> Result<(), KnowledgeError> {
        for source in std::mem::take(&mut self.known).into_keys() {
            self.remove(&source)?;
            self.refreshed.removed += 1;
        }
        Ok(())
    }

    fn remove(&mut self, source: &str) -> Result<(), KnowledgeError> {
        let term = Term::from_field_text(self.opened.fields.source, source);
        self.write(|writer| Ok(writer.delete_term(term))).map(|_| ())
    }

    /// Writes to the index; the first time, it opens the writer.
    fn write<T>(
        &mut self,
        step: impl FnOnce(&mut IndexWriter) -> tantivy::Result<T>,
    ) -> Result<T, KnowledgeError> {
        let Opened { index, settings, .. } = self.opened;
        let writer = &mut self.writer;
        on_index(&settings.index, || {
            let writer = match writer {
                Some(writer) => writer,
                None => writer.insert(index.writer_with_num_threads(1, settings.memory)?),
            };
            step(writer)
        })
    }

    fn finish(mut self) -> Result<Refreshed, KnowledgeError> {
        if self.writer.is_some() {
            self.write(IndexWriter::commit)?;
        }
        if let Some(writer) = self.writer.take() {
            on_index(&self.opened.settings.index, || writer.wait_merging_threads())?;
        }
        Ok(self.refreshed)
    }
}

fn passage(
    opened: &Opened,
    source: &str,
    document: &Document,
    piece: &Piece,
    language: Language,
) -> TantivyDocument {
    let fields = &opened.fields;
    let text = &document.text[piece.range.clone()];
    let titled = format!("{} {text}", piece.title.as_deref().unwrap_or_default());
    let mut passage = TantivyDocument::new();
    passage.add_text(fields.kind, PASSAGE);
    passage.add_text(fields.source, source);
    passage.add_pre_tokenized_text(fields.words, words::of_text(&titled, language));
    passage.add_text(fields.text, text);
    passage.add_text(fields.digest, digest::written(digest::of(&[titled.as_bytes()])));
    if let Some(title) = &piece.title {
        passage.add_text(fields.title, title);
    }
    passage.add_u64(fields.start, piece.range.start as u64);
    passage.add_u64(fields.end, piece.range.end as u64);
    if let Some(lines) = &piece.lines {
        passage.add_u64(fields.first_line, *lines.start() as u64);
        passage.add_u64(fields.last_line, *lines.end() as u64);
    }
    passage
}

fn read(file: &File, known: Option<&str>, settings: &TextIndexBuilder) -> Content {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Content::Vanished,
        _ => Content::Unreadable(error.to_string()),
    };
    let size = match fs::metadata(&file.path) {
        Ok(meta) => meta.len(),
        Err(error) => return unreadable(error),
    };
    let limit = settings.max_file_bytes;
    if size > limit {
        return Content::Refused(format!("it has {size} bytes, the limit is {limit}"));
    }
    let bytes = match fs::read(&file.path) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(error),
    };
    let passage_size = settings.passage_size.to_string();
    let hash = digest::written(digest::of(&[VERSION.as_bytes(), passage_size.as_bytes(), &bytes]));
    if known == Some(&*hash) {
        return Content::Unchanged;
    }
    match file.format.read(bytes, settings.passage_size) {
        Ok(document) => Content::Read { hash, document },
        Err(reason) => Content::Refused(reason),
    }
}

/// Returns the hashes of the files in the index, by source.
fn known(opened: &Opened) -> Result<HashMap<String, String>, KnowledgeError> {
    let fields = &opened.fields;
    let searcher = opened.newest()?.searcher;
    on_index(&opened.settings.index, || {
        let kind = Term::from_field_text(fields.kind, FILE);
        let files = TermQuery::new(kind, IndexRecordOption::Basic);
        let mut known = HashMap::new();
        for at in searcher.search(&files, &DocSetCollector)? {
            let file: TantivyDocument = searcher.doc(at)?;
            let text = |field| fields.stored_text(&file, field).map(str::to_owned);
            known.extend(text(fields.source).zip(text(fields.hash)));
        }
        Ok(known)
    })
}
