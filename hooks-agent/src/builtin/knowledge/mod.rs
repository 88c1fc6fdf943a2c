//! Hooks that bring in what is known: documents, memories of users, skills.
//!
//! See [the guide](crate::guide::builtin_knowledge).

mod long_term_memory;
mod rag;
#[cfg(feature = "skills")]
mod skills;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use long_term_memory::SqlMemories;
#[cfg(feature = "sqlite")]
pub use long_term_memory::SqliteMemories;
pub use long_term_memory::{
    Added, FailedWrite, Forget, Keep, LongTermMemory, Memories, MemoriesError, MemoriesFuture,
    MemoryLimits, Origin, ProcessMemories, Remembered, Said, Source,
};
#[cfg(feature = "postgres")]
pub use long_term_memory::{PostgresMemories, PostgresMemoriesOptions};
#[cfg(all(feature = "knowledge", feature = "genai"))]
pub use rag::GenAiEmbedder;
#[cfg(all(feature = "knowledge", feature = "postgres"))]
pub use rag::PgVectors;
#[cfg(feature = "knowledge")]
pub use rag::{EmbedFuture, Embedded, Embedder, VectorIndex};
pub use rag::{
    Hybrid, Knowledge, KnowledgeError, KnowledgeFuture, Measured, OnFailure, Passage, Passages, Rag,
};
#[cfg(feature = "knowledge")]
pub use rag::{Refreshed, Skipped, TextIndex, TextIndexBuilder};
#[cfg(feature = "skills")]
pub use skills::{Skill, SkillError, Skills, SkillsBuilder, SkillsError};
