//! The events around asking the model.

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::context::CallContext;
use crate::error::InputError;
use crate::event::accessors::{model_input, of_a_call};
use crate::event::{Decided, Flow, system};
use crate::message::{ContentBlock, Messages, Msg, ToolUse};
use crate::model::{ModelOptions, ToolSpec};
use crate::step::{Control, Jump, JumpTo, Reasoned, ReasoningInput};

/// The model is about to be asked. What the hooks make of the messages, instructions, tools and
/// options is what it gets; memory stays as it is.
///
/// Fired once for each round.
pub struct PreReasoning<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    input: &'a mut ReasoningInput,
}

impl<'a> PreReasoning<'a> {
    /// The event, for trying a hook out.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut ReasoningInput) -> Self {
        Self { agent, cx, input }
    }

    model_input!();

    /// The tools that the model may ask for.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.input.tools
    }

    /// Shows the model other tools. Those that the agent does not have cannot run.
    pub fn set_tools(&mut self, tools: impl Into<Arc<[ToolSpec]>>) {
        self.input.tools = tools.into();
    }

    /// What earlier hooks decided.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.input.control
    }

    /// Answers in place of the model; `PostReasoning` follows.
    pub fn answer(&self, msg: Msg) -> Flow {
        Flow::then(Decided::Answer(msg))
    }

    /// Gives control back to the caller; the model is not asked.
    pub fn stop(&self) -> Flow {
        Flow::then(Decided::Stop)
    }

    /// Runs the tool calls that wait, if there are any, without asking the model.
    pub fn jump_to_tools(&self) -> Flow {
        Flow::jump(JumpTo::Tools)
    }

    /// Ends the call with the last message of the model.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
    }
}

/// The model has answered. What the hooks make of the message is what is remembered, what runs and
/// what the caller gets.
///
/// Fired once for each round in which there is an answer. A call that is interrupted or dropped while
/// the model still answers remembers what it had said, and these hooks do not see that: what must never
/// be remembered is for a [`Rewrite`](crate::Rewrite) around `model_call`.
pub struct PostReasoning<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    model: &'a str,
    message: &'a mut Arc<Msg>,
    control: &'a Control,
    is_changed: bool,
}

impl<'a> PostReasoning<'a> {
    /// The event, for trying a hook out; `None` if there is no message.
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        output: &'a mut Reasoned,
    ) -> Option<Self> {
        let Reasoned { model, message, control } = output;
        Some(Self { agent, cx, model, message: message.as_mut()?, control, is_changed: false })
    }

    of_a_call!();

    /// The name of the model that answered.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.model
    }

    /// The answer.
    #[must_use]
    pub fn message(&self) -> &Msg {
        self.message
    }

    /// The answer, to be changed.
    pub fn message_mut(&mut self) -> &mut Msg {
        self.is_changed = true;
        Arc::make_mut(self.message)
    }

    /// Puts another answer in its place. Its tool calls run, whatever its name.
    pub fn set_message(&mut self, msg: Msg) {
        self.is_changed = true;
        *self.message = Arc::new(msg);
    }

    /// What earlier hooks decided.
    #[must_use]
    pub fn control(&self) -> &Control {
        self.control
    }

    /// Gives control back to the caller: tool calls of the message wait for an answer.
    pub fn stop(&self) -> Flow {
        Flow::then(Decided::Stop)
    }

    /// Asks the model again, once the message and then `messages` are remembered. Counts as a round.
    ///
    /// # Errors
    /// [`InputError::MissingResults`] if the message has tool calls which `messages` do not answer; the
    /// same error as in a call for results that come twice or are of no call.
    pub fn jump_to_model(&self, messages: impl Into<Messages>) -> Result<Flow, InputError> {
        let messages = messages.into();
        let results: Vec<_> = messages.iter().flat_map(|msg| msg.tool_results()).collect();
        let calls: Vec<_> = self.message.tool_uses().cloned().collect();
        InputError::check_results(&calls, &results)?;
        let is_open = |call: &&ToolUse| !results.iter().any(|result| result.id == call.id);
        let ids: Vec<_> = calls.iter().filter(is_open).map(|call| call.id.clone()).collect();
        if !ids.is_empty() {
            return Err(InputError::MissingResults { ids });
        }
        Ok(Flow::then(Decided::Jump(Jump { to: JumpTo::Model, messages })))
    }

    /// Ends the call with the message; its tool calls are answered by an error.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
    }
}

/// What an interrupt keeps is what the hooks have made of it until then.
impl Drop for PostReasoning<'_> {
    fn drop(&mut self) {
        if self.is_changed {
            self.cx.replace_draft(self.message.clone());
        }
    }
}

impl fmt::Debug for PreReasoning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreReasoning").field("input", &self.input).finish_non_exhaustive()
    }
}

impl fmt::Debug for PostReasoning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostReasoning")
            .field("message", &self.message)
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}
