//! Asking the model.

use std::sync::Arc;

use crate::message::{Messages, Msg};
use crate::model::{ModelOptions, ToolSpec};
use crate::step::Control;

/// What goes into one round of reasoning.
#[derive(Clone, Debug)]
pub struct ReasoningInput {
    /// The name of the model.
    pub model: Arc<str>,
    /// The instructions. They stand before the messages and are not remembered.
    pub system: Option<Arc<Msg>>,
    /// The conversation.
    pub messages: Messages,
    /// The tools that the model may ask for.
    pub tools: Arc<[ToolSpec]>,
    /// How the model is to answer.
    pub options: Arc<ModelOptions>,
    /// What hooks decided.
    pub control: Control,
}

/// What comes out of reasoning.
#[derive(Clone, Debug)]
pub struct Reasoned {
    /// The name of the model that answered.
    pub model: Arc<str>,
    /// Its answer. `None` if a hook stopped the call or sent it elsewhere before the model was asked.
    pub message: Option<Arc<Msg>>,
    /// What hooks decided.
    pub control: Control,
}
