//! Models, with which agents reason.

pub use hooks_agent_core::model::*;
#[cfg(feature = "genai")]
pub use hooks_agent_providers::GenAiModel;
#[cfg(feature = "recognizer")]
pub use hooks_agent_providers::{RemoteRecognizer, RemoteRecognizerError};
