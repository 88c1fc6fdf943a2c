//! Summing up when the limit of rounds is reached.

use std::sync::Arc;

use crate::message::{Messages, Msg};
use crate::model::ModelOptions;
use crate::step::Control;

/// What goes into the summary of a call that reached its limit. [`Reasoned`](crate::Reasoned) comes out.
#[derive(Clone, Debug)]
pub struct SummaryInput {
    /// The name of the model.
    pub model: Arc<str>,
    /// The instructions. They stand before the messages and are not remembered.
    pub system: Option<Arc<Msg>>,
    /// The conversation; the last message asks for the summary and is not remembered.
    pub messages: Messages,
    /// How the model is to answer.
    pub options: Arc<ModelOptions>,
    /// How many rounds a call may take.
    pub max_iterations: usize,
    /// How many it took.
    pub current_iteration: usize,
    /// What hooks decided.
    pub control: Control,
}
