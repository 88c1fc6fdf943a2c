//! Hooks that bring in what is known: documents, memories of users, skills.
//!
//! See [the guide](crate::guide::builtin_knowledge).

#[cfg(feature = "skills")]
mod skills;

#[cfg(feature = "skills")]
pub use skills::{Skill, SkillError, Skills, SkillsBuilder, SkillsError};
