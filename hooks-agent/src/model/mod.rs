//! Models: what an agent reasons with.

mod chat;
mod error;
#[cfg(feature = "genai")]
mod genai;
mod scripted;

pub(crate) use chat::collect;
pub use chat::{ChatChunk, ChatModel, ChatRequest, ChatStream, ToolSpec, Usage};
pub use error::ModelError;
#[cfg(feature = "genai")]
pub use genai::GenAiModel;
pub use scripted::{ScriptedAnswer, ScriptedModel};
