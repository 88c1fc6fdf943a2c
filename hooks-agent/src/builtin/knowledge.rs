//! Hooks that bring in what is known: documents, memories of users, skills.
//!
//! See [the guide](crate::guide::builtin_knowledge).

pub use hooks_agent_knowledge::*;
#[cfg(all(feature = "knowledge", feature = "genai"))]
pub use hooks_agent_providers::GenAiEmbedder;
