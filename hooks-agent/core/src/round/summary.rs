//! The summary at the limit of rounds.

use std::sync::Arc;

use crate::message::{Messages, Msg};
use crate::model::ModelOptions;
use crate::round::control::Control;

/// The input of the summary of a call that reached its limit of rounds. The output is
/// [`Reasoned`](crate::round::Reasoned).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SummaryInput {
    /// The name of the model.
    pub model: Arc<str>,
    /// The system message. It precedes the messages and is not stored in memory.
    pub system: Option<Arc<Msg>>,
    /// The messages. The last one asks for the summary and is not stored in memory.
    pub messages: Messages,
    /// The options of the model.
    pub options: Arc<ModelOptions>,
    /// The context window of the model in tokens, if it is known.
    pub context_window: Option<u64>,
    /// The limit of rounds of a call.
    pub max_iterations: usize,
    /// The number of rounds that the call took.
    pub current_iteration: usize,
    /// The decision of hooks.
    pub control: Control,
}

impl SummaryInput {
    /// Creates an input with default options.
    #[must_use]
    pub fn new(model: impl Into<Arc<str>>, messages: impl Into<Messages>) -> Self {
        Self { model: model.into(), messages: messages.into(), ..Self::default() }
    }
}
