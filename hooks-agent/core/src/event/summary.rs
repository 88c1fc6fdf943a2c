//! The events before and after the summary of a call that reached its limit of rounds.

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::accessors::{model_input, of_an_event};
use crate::event::flow::{Decided, Flow};
use crate::event::system;
use crate::message::{ContentBlock, Messages, Msg};
use crate::model::ModelOptions;
use crate::round::{Reasoned, SummaryInput};

/// The event before the summary: a call reached its limit of rounds, and the model is called for a
/// summary, without tools.
///
/// A hook that answers with a fixed text, which saves the call of the model:
///
/// ```
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let give_up = on(|event: &mut PreSummary<'_>| {
///     let text = format!("No answer after {} rounds.", event.current_iteration());
///     event.answer(Msg::assistant(event.agent().name(), text))
/// });
/// // `model` calls the tool in every round.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.tools.is_empty() {
/// #         true => "So far so good.".into(),
/// #         false => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// # let read = FunctionTool::new("read", "Reads.", async |_: Value| "nothing new");
/// let builder = ReActAgent::builder("assistant").model(model).tool(read).max_iters(2);
/// let agent = builder.hook(give_up).build()?;
/// assert_eq!(agent.call("Watch it").await?.text(), "No answer after 2 rounds.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PreSummary<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    input: &'a mut SummaryInput,
}

impl<'a> PreSummary<'a> {
    /// Creates the event, for unit tests of hooks.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut SummaryInput) -> Self {
        Self { agent, cx, input }
    }

    /// Returns what is sent to the model.
    pub(crate) fn input(&self) -> &SummaryInput {
        self.input
    }

    model_input!();

    /// Returns the limit of rounds of a call.
    #[must_use]
    pub fn max_iterations(&self) -> usize {
        self.input.max_iterations
    }

    /// Returns the number of rounds that the call took.
    #[must_use]
    pub fn current_iteration(&self) -> usize {
        self.input.current_iteration
    }

    /// Answers with this message instead of calling the model. `PostSummary` follows.
    pub fn answer(&self, msg: Msg) -> Flow {
        Flow::then(Decided::Answer(msg))
    }

    /// Stops the call and returns to the caller without a summary.
    pub fn stop(&self) -> Flow {
        Flow::stop()
    }
}

/// The event after the summary. Memory and the caller get the summary as hooks changed it.
///
/// A hook that marks the summary:
///
/// ```
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let mark = on(|event: &mut PostSummary<'_>| event.message_mut().push_text(" (unfinished)"));
/// // `model` calls the tool in every round.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.tools.is_empty() {
/// #         true => "So far so good.".into(),
/// #         false => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// # let read = FunctionTool::new("read", "Reads.", async |_: Value| "nothing new");
/// let builder = ReActAgent::builder("assistant").model(model).tool(read).max_iters(1);
/// let agent = builder.hook(mark).build()?;
/// assert_eq!(agent.call("Watch it").await?.text(), "So far so good. (unfinished)");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PostSummary<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    model: &'a str,
    message: &'a mut Arc<Msg>,
}

impl<'a> PostSummary<'a> {
    /// Creates the event, for unit tests of hooks. Returns `None` if there is no message.
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        output: &'a mut Reasoned,
    ) -> Option<Self> {
        let Reasoned { model, message, .. } = output;
        Some(Self { agent, cx, model, message: message.as_mut()? })
    }

    of_an_event!();

    /// Returns a copy of what it holds.
    pub(super) fn copy(&self) -> Reasoned {
        Reasoned::new(self.model, self.message.clone())
    }

    /// Returns the name of the model that answered.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.model
    }

    /// Returns the summary.
    #[must_use]
    pub fn message(&self) -> &Msg {
        self.message
    }

    /// Returns a mutable reference to the summary.
    pub fn message_mut(&mut self) -> &mut Msg {
        Arc::make_mut(self.message)
    }

    /// Replaces the summary.
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
