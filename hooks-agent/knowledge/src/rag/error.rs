//! The errors of knowledge.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hooks_core::BoxError;

/// Why knowledge could not be searched, or an index could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// The folder of the documents cannot be read. The index stays as it was.
    #[error("the folder of documents `{}` cannot be read", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The index cannot be read or written.
    #[error("the index in `{}` cannot be read or written", index.display())]
    Index {
        /// The folder of the index.
        index: PathBuf,
        /// The cause.
        source: BoxError,
    },
    /// The index is damaged, or of another version.
    #[error(
        "the index in `{}` is damaged: delete this folder, and it is built again from the \
         documents when it is opened",
        index.display()
    )]
    Damaged {
        /// The folder of the index.
        index: PathBuf,
        /// The cause.
        source: BoxError,
    },
    /// The file of the vectors is cut off, or of something else.
    #[error("the vectors in `{}` are damaged: delete this file, and the next refresh makes them again", file.display())]
    DamagedVectors {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: BoxError,
    },
    /// The folder of the index has other files and no index.
    #[error("`{}` is no index and not empty: choose a folder of its own for the index", index.display())]
    NotAnIndex {
        /// The folder.
        index: PathBuf,
    },
    /// The work was stopped because nobody waits for it.
    #[error("nobody waits for the index any more")]
    Abandoned,
    /// An embedder failed.
    #[error("embedder `{embedder}` failed")]
    Embedder {
        /// The name of the embedder.
        embedder: String,
        /// The cause.
        source: BoxError,
    },
    /// An embedder returned another number of vectors than it was given texts.
    #[error("embedder `{embedder}` returned {found} vectors for {expected} texts")]
    VectorCount {
        /// The name of the embedder.
        embedder: String,
        /// The number of the texts.
        expected: usize,
        /// The number of the vectors.
        found: usize,
    },
    /// An embedder returned a vector of another length than its dimension.
    #[error(
        "embedder `{embedder}` returned a vector of length {found}, its dimension is {expected}"
    )]
    VectorLength {
        /// The name of the embedder.
        embedder: String,
        /// The dimension.
        expected: usize,
        /// The length of the vector.
        found: usize,
    },
    /// An embedder returned a vector with a number that is not finite.
    #[error("embedder `{embedder}` returned a vector with a number that is not finite")]
    VectorValue {
        /// The name of the embedder.
        embedder: String,
    },
    /// The stored vectors are of another embedder.
    #[error(
        "the vectors in `{place}` are of embedder `{stored}` with dimension {stored_dimension}, not \
         of `{given}` with dimension {given_dimension}: choose another place, or delete them"
    )]
    OtherEmbedder {
        /// The file or the table of the vectors.
        place: String,
        /// The name of the embedder that the vectors are of.
        stored: String,
        /// The dimension of the vectors.
        stored_dimension: usize,
        /// The name of the embedder that was given.
        given: String,
        /// Its dimension.
        given_dimension: usize,
    },
    /// The database failed.
    #[error("the database of vectors failed: {action}")]
    Database {
        /// What was to be done.
        action: &'static str,
        /// The cause.
        source: BoxError,
    },
    /// The search, or the embedder, took too long.
    #[error("no answer within {after:?}")]
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// Another kind of knowledge failed.
    #[error(transparent)]
    Other(BoxError),
}

impl KnowledgeError {
    /// Creates an error of a program's own [`Knowledge`](crate::Knowledge).
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self::Other(error.into())
    }
}
