//! The documents in a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::rag::documents::Format;
use crate::rag::text_index::refreshed::Skipped;

/// A document in a folder.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    /// The path in the folder, with `/`.
    pub(super) source: String,
    pub(super) format: Format,
}

/// What is in a folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The documents, by their sources.
    pub(super) files: Vec<File>,
    /// The folders that cannot be read: whether there are documents in them is not known.
    pub(super) unreadable: Vec<String>,
    pub(super) skipped: Vec<Skipped>,
}

/// Decides whether a file or folder belongs to the documents.
pub(super) type Only = dyn Fn(&Path) -> bool + Send + Sync;

/// Lists the documents of a folder and the folders in it, without hidden ones and without links.
///
/// # Errors
/// That the folder itself cannot be read.
pub(super) fn list(folder: &Path, only: &Only) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((path, prefix)) = folders.pop() {
        let read = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match read {
            Ok(entries) => entries,
            Err(error) if prefix.is_empty() => return Err(error),
            Err(error) => {
                listing.skipped.push(Skipped::new(prefix.clone(), error.to_string()));
                listing.unreadable.push(prefix);
                continue;
            }
        };
        for entry in entries {
            let name = entry.file_name();
            let source = format!("{prefix}{}", name.to_string_lossy());
            let Some(name) = name.to_str() else {
                // Two such names may look the same, and the index knows documents by their names.
                listing.skipped.push(Skipped::new(source, "its name is not UTF-8".to_owned()));
                continue;
            };
            if name.starts_with('.') || !only(Path::new(&source)) {
                continue;
            }
            // Links are neither files nor folders here: what they lead to may be outside.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push((entry.path(), format!("{source}/"))),
                Ok(kind) if kind.is_file() => {
                    let path = entry.path();
                    if let Some(format) = Format::of(&path) {
                        listing.files.push(File { path, source, format });
                    }
                }
                Ok(_) => {}
                Err(error) => listing.skipped.push(Skipped::new(source, error.to_string())),
            }
        }
    }
    listing.files.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(listing)
}
