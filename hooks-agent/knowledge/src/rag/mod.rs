//! Passages of documents in the prompt. [`Rag`] asks a [`Knowledge`]: a [`TextIndex`] of a folder,
//! vectors, both, or the program's own.

#[cfg(feature = "knowledge")]
mod blocking;
#[cfg(feature = "knowledge")]
mod digest;
#[cfg(feature = "knowledge")]
mod documents;
mod error;
mod hook;
mod hybrid;
mod knowledge;
#[cfg(feature = "knowledge")]
mod lock;
mod measure;
mod passage;
mod prompt;
mod search;
#[cfg(feature = "knowledge")]
mod text_index;
mod tool;
#[cfg(feature = "knowledge")]
mod vectors;

pub use error::KnowledgeError;
pub use hook::Rag;
pub use hybrid::Hybrid;
pub use knowledge::{Knowledge, KnowledgeFuture};
pub use measure::Measured;
pub use passage::{Passage, Passages};
pub use search::OnFailure;
#[cfg(feature = "knowledge")]
pub use text_index::{Refreshed, Skipped, TextIndex, TextIndexBuilder};
#[cfg(all(feature = "knowledge", feature = "postgres"))]
pub use vectors::PgVectors;
#[cfg(feature = "knowledge")]
pub use vectors::{Embedded, VectorIndex};
