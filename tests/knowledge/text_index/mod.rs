//! `TextIndex`: a folder of documents, found by their words.

mod damage;
mod formats;
mod languages;
mod processes;
mod refresh;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use hooks_agent_knowledge::{Knowledge, Passage, TextIndex};
use tempfile::TempDir;

/// Documents and their index, which are removed at the end.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.documents()).unwrap();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    pub(crate) fn documents(&self) -> PathBuf {
        self.folder.path().join("documents")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.documents().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.documents().join(name)).unwrap();
    }

    pub(crate) async fn open(&self) -> TextIndex {
        TextIndex::open(self.documents(), self.index()).await.unwrap()
    }
}

/// The sources of what is found, in order.
pub(crate) async fn sources(index: &TextIndex, query: &str) -> Vec<String> {
    let found = index.search(query, 10).await.unwrap();
    found.into_iter().map(|passage| passage.source).collect()
}

pub(crate) async fn first(index: &TextIndex, query: &str) -> Passage {
    index.search(query, 1).await.unwrap().pop().unwrap_or_else(|| panic!("nothing of {query}"))
}

/// The largest file of this ending in a folder.
fn largest(folder: &Path, ending: &str) -> PathBuf {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_ending = paths.filter(|path| path.to_str().unwrap().ends_with(ending));
    of_ending.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
}
