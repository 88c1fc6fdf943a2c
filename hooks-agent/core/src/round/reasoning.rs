//! The step that calls the model.

use std::sync::Arc;

use crate::message::{Messages, Msg};
use crate::model::{FinishReason, ModelOptions, ToolSpec};
use crate::round::control::Control;

/// The input of a round of reasoning.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
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
    /// The context window of the model in tokens, if it is known.
    pub context_window: Option<u64>,
    /// The decision of hooks.
    pub control: Control,
}

impl ReasoningInput {
    /// Creates an input without tools and with default options.
    #[must_use]
    pub fn new(model: impl Into<Arc<str>>, messages: impl Into<Messages>) -> Self {
        Self { model: model.into(), messages: messages.into(), ..Self::default() }
    }
}

/// The output of a round of reasoning or of a summary.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reasoned {
    /// The name of the model that answered.
    pub model: Arc<str>,
    /// The answer, or `None` if a hook stopped the call or jumped before the model was called.
    pub message: Option<Arc<Msg>>,
    /// Why the model ended its answer.
    pub finish: FinishReason,
    /// The decision of hooks.
    pub control: Control,
}

impl Reasoned {
    /// Creates the output with a complete answer.
    #[must_use]
    pub fn new(model: impl Into<Arc<str>>, message: impl Into<Arc<Msg>>) -> Self {
        Self {
            model: model.into(),
            message: Some(message.into()),
            finish: FinishReason::default(),
            control: Control::default(),
        }
    }

    /// Creates the output of a round in which hooks kept the model from being called.
    pub(crate) fn skipped(model: Arc<str>, control: Control) -> Self {
        Self { model, message: None, finish: FinishReason::default(), control }
    }
}
