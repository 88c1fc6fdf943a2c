//! Models, with which agents reason.

mod answer;
mod chat;
mod context_size;
mod context_window;
mod embedder;
mod error;
mod options;
mod price_table;
mod recognizer;
mod rewrite;
mod scripted;
mod token_counter;
mod tokens;

pub use answer::ModelAnswer;
pub use chat::{ChatChunk, ChatModel, ChatRequest, ChatStream, FinishReason, ToolSpec};
pub use context_size::{ContextSize, ContextSizeError};
pub use context_window::known_context_window;
pub use embedder::{EmbedFuture, Embedder};
pub use error::ModelError;
pub use options::{ModelOptions, ReasoningEffort, ResponseFormat, ToolChoice};
pub use price_table::{PriceError, PriceTable};
pub use recognizer::{RecognizeFuture, Recognized, Recognizer};
pub use rewrite::{AsyncFind, Find, FindFuture, Finding, Rewriter, TextPlace, Used};
pub(crate) use rewrite::{CallTexts, KeepDigests};
pub use scripted::{ScriptedAnswer, ScriptedModel};
pub use token_counter::TokenCounter;
pub use tokens::TokenCount;
