//! Hooks that bring in what is known: documents, memories of users, skills.
//!
//! See [the guide](crate::guide::builtin_knowledge).

mod rag;

#[cfg(all(feature = "knowledge", feature = "genai"))]
pub use rag::GenAiEmbedder;
#[cfg(all(feature = "knowledge", feature = "postgres"))]
pub use rag::PgVectors;
#[cfg(feature = "knowledge")]
pub use rag::{EmbedFuture, Embedded, Embedder, VectorIndex};
pub use rag::{
    Hybrid, Knowledge, KnowledgeError, KnowledgeFuture, OnFailure, Passage, Passages, Rag,
};
#[cfg(feature = "knowledge")]
pub use rag::{Refreshed, Skipped, TextIndex, TextIndexBuilder};
