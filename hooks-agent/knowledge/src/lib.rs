//! Hooks that bring in what is known: documents, memories of users, skills.
//!
//! This crate is the module `builtin::knowledge` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there.
//! [The guide] says what each hook does with foreign text.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_knowledge/index.html

mod long_term_memory;
mod rag;
#[cfg(feature = "skills")]
mod skills;

#[cfg(feature = "knowledge")]
pub use hooks_agent_core::model::{EmbedFuture, Embedder};
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
#[cfg(all(feature = "knowledge", feature = "postgres"))]
pub use rag::PgVectors;
#[cfg(feature = "knowledge")]
pub use rag::{Embedded, VectorIndex};
pub use rag::{
    Hybrid, Knowledge, KnowledgeError, KnowledgeFuture, Measured, OnFailure, Passage, Passages, Rag,
};
#[cfg(feature = "knowledge")]
pub use rag::{Refreshed, Skipped, TextIndex, TextIndexBuilder};
#[cfg(feature = "skills")]
pub use skills::{Skill, SkillError, Skills, SkillsBuilder, SkillsError};
