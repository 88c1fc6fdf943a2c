//! Hooks that bring in what is known: documents, memories of users, skills.
//!
//! See [the guide](crate::guide::builtin_knowledge).

mod long_term_memory;
#[cfg(feature = "skills")]
mod skills;

pub use long_term_memory::{
    Added, FailedWrite, Forget, Keep, LongTermMemory, Memories, MemoriesError, MemoriesFuture,
    MemoryLimits, Origin, ProcessMemories, Remembered, Said, Source,
};
#[cfg(feature = "skills")]
pub use skills::{Skill, SkillError, Skills, SkillsBuilder, SkillsError};
