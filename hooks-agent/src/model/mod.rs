//! Models, with which agents reason.

#[cfg(feature = "genai")]
mod genai;

#[cfg(feature = "genai")]
pub use genai::GenAiModel;
pub use hooks_agent_core::model::*;
