//! The step that calls the model.

use std::sync::Arc;

use crate::message::{Messages, Msg};
use crate::model::{ModelOptions, ToolSpec};
use crate::round::Control;

/// The input of a round of reasoning.
#[derive(Clone, Debug)]
pub struct ReasoningInput {
    /// The name of the model.
    pub model: Arc<str>,
    /// The system message. It precedes the messages and is not stored in memory.
    pub system: Option<Arc<Msg>>,
    /// The messages.
    pub messages: Messages,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// The options of the model.
    pub options: Arc<ModelOptions>,
    /// The decision of hooks.
    pub control: Control,
}

/// The output of a round of reasoning or of a summary.
#[derive(Clone, Debug)]
pub struct Reasoned {
    /// The name of the model that answered.
    pub model: Arc<str>,
    /// The answer, or `None` if a hook stopped the call or jumped before the model was called.
    pub message: Option<Arc<Msg>>,
    /// The decision of hooks.
    pub control: Control,
}
