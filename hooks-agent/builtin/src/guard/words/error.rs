//! Errors of lists of words.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The error of a [`WordList`](crate::guard::WordList) that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WordListError {
    /// The file cannot be read.
    #[error("the list of words {} cannot be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What failed.
        source: Arc<io::Error>,
    },
    /// A line, or a word of a list in code, cannot be used.
    #[error("line {line} of the list of words {reason}")]
    Line {
        /// The number of the line or of the word, from 1.
        line: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// The list has no words, so it would guard nothing.
    #[error("the list of words is empty")]
    Empty,
    /// The words are too many to be searched for at once.
    #[error("the list of words is too large")]
    TooLarge(#[source] Arc<dyn std::error::Error + Send + Sync>),
}
