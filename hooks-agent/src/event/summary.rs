//! The events around the summary of a call that reached its limit.

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::context::CallContext;
use crate::event::accessors::{model_input, of_a_call};
use crate::event::{Decided, Flow, system};
use crate::message::{ContentBlock, Messages, Msg};
use crate::model::ModelOptions;
use crate::step::{Reasoned, SummaryInput};

/// The limit of rounds is reached and the model is about to be asked to sum up, without tools.
pub struct PreSummary<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    input: &'a mut SummaryInput,
}

impl<'a> PreSummary<'a> {
    /// The event, for trying a hook out.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut SummaryInput) -> Self {
        Self { agent, cx, input }
    }

    model_input!();

    /// How many rounds a call may take.
    #[must_use]
    pub fn max_iterations(&self) -> usize {
        self.input.max_iterations
    }

    /// How many it took.
    #[must_use]
    pub fn current_iteration(&self) -> usize {
        self.input.current_iteration
    }

    /// Answers in place of the model; `PostSummary` follows.
    pub fn answer(&self, msg: Msg) -> Flow {
        Flow::then(Decided::Answer(msg))
    }

    /// Gives control back to the caller without a summary.
    pub fn stop(&self) -> Flow {
        Flow::then(Decided::Stop)
    }
}

/// The summary is there. What the hooks make of it is what is remembered and what the caller gets.
pub struct PostSummary<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    model: &'a str,
    message: &'a mut Arc<Msg>,
}

impl<'a> PostSummary<'a> {
    /// The event, for trying a hook out; `None` if there is no message.
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        output: &'a mut Reasoned,
    ) -> Option<Self> {
        let Reasoned { model, message, .. } = output;
        Some(Self { agent, cx, model, message: message.as_mut()? })
    }

    of_a_call!();

    /// The name of the model that answered.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.model
    }

    /// The summary.
    #[must_use]
    pub fn message(&self) -> &Msg {
        self.message
    }

    /// The summary, to be changed.
    pub fn message_mut(&mut self) -> &mut Msg {
        Arc::make_mut(self.message)
    }

    /// Puts another summary in its place.
    pub fn set_message(&mut self, msg: Msg) {
        *self.message = Arc::new(msg);
    }
}

impl fmt::Debug for PreSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreSummary").field("input", &self.input).finish_non_exhaustive()
    }
}

impl fmt::Debug for PostSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostSummary").field("message", &self.message).finish_non_exhaustive()
    }
}
