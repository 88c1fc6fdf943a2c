//! The events before and after the model call of a round.

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::InputError;
use crate::event::accessors::{model_input, of_an_event};
use crate::event::flow::{Decided, Flow};
use crate::event::system;
use crate::message::{ContentBlock, Messages, Msg, Question};
use crate::model::{FinishReason, ModelOptions, ToolSpec};
use crate::round::{AskedPeople, Control, Jump, JumpTo, Reasoned, ReasoningInput};

/// The event before the model is called in a round. The model gets the messages, the system
/// message, the tools and the options as hooks changed them; memory is not affected.
///
/// Fires once for each round.
///
/// A hook that chooses the tools by a value of the call:
///
/// ```
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// struct Admin;
///
/// # futures::executor::block_on(async {
/// let choose = on(|event: &mut PreReasoning<'_>| {
///     let is_admin = event.context().get::<Admin>().is_some();
///     let may_use = |name: &str| is_admin || name != "delete";
///     let tools = event.tools().iter().filter(|tool| may_use(&tool.name)).cloned();
///     event.set_tools(tools.collect::<Vec<_>>());
/// });
/// // A model that answers with the number of its tools.
/// let model = ScriptedModel::new("count", |request| request.tools.len().to_string());
/// # let read = FunctionTool::new("read", "Reads a file.", async |_: Value| "text");
/// # let delete = FunctionTool::new("delete", "Deletes a file.", async |_: Value| "deleted");
/// let builder = ReActAgent::builder("assistant").model(model).tool(read).tool(delete);
/// let agent = builder.hook(choose).build()?;
/// assert_eq!(agent.call("How many tools?").await?.text(), "1");
/// let admin = CallOptions::new().value(Admin);
/// assert_eq!(agent.call_with(admin, "How many tools?").await?.text(), "2");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PreReasoning<'a> {
    agent: &'a dyn Agent,
    pub(super) cx: &'a CallContext,
    pub(super) input: &'a mut ReasoningInput,
}

impl<'a> PreReasoning<'a> {
    /// Creates the event, for unit tests of hooks.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut ReasoningInput) -> Self {
        Self { agent, cx, input }
    }

    /// Returns what is sent to the model.
    pub(crate) fn input(&self) -> &ReasoningInput {
        self.input
    }

    model_input!();

    /// Returns the tools that the model may call.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.input.tools
    }

    /// Returns the same tools as they are shared. An agent has one list of tools, so a hook that counts or
    /// searches them knows by [`Arc::ptr_eq`] whether they are the same as before.
    #[must_use]
    pub fn shared_tools(&self) -> Arc<[ToolSpec]> {
        self.input.tools.clone()
    }

    /// Replaces the tools that the model may call. A tool that the agent does not have cannot run.
    pub fn set_tools(&mut self, tools: impl Into<Arc<[ToolSpec]>>) {
        self.input.tools = tools.into();
    }

    /// Returns the decision of earlier hooks.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.input.control
    }

    /// Answers with this message instead of calling the model. `PostReasoning` follows.
    pub fn answer(&self, msg: Msg) -> Flow {
        Flow::then(Decided::Answer(msg))
    }

    /// Stops the call and returns to the caller without calling the model.
    pub fn stop(&self) -> Flow {
        Flow::stop()
    }

    /// Runs the tool calls that wait, if there are any, without calling the model first.
    pub fn jump_to_tools(&self) -> Flow {
        Flow::jump(JumpTo::Tools)
    }

    /// Ends the call with the model's last message.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
    }
}

/// The event after the model answered in a round. Memory and the caller get the message as hooks
/// changed it, and its tool calls run.
///
/// Fires once for each round with an answer. If a call is interrupted or dropped before all hooks
/// of this event have run, memory keeps no text of the answer, only that there was one. The stream
/// of the call receives the chunks before this event: to keep text out of it too, use a
/// [`Rewrite`](crate::hook::Rewrite) around `model_call`.
///
/// A hook that refuses a long answer, so that the model answers again:
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let brief = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
///     let message = event.message();
///     if message.text().len() <= 10 || message.tool_uses().next().is_some() {
///         return Ok(Flow::Continue);
///     }
///     Ok(event.jump_to_model("Shorter, please.")?)
/// });
/// let model = ScriptedModel::new("polite", |request| match request.last_text().as_str() {
///     "Shorter, please." => "Yes.",
///     _ => "Yes, with the greatest of pleasure.",
/// });
/// let agent = ReActAgent::builder("assistant").model(model).hook(brief).build()?;
/// assert_eq!(agent.call("May I?").await?.text(), "Yes.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PostReasoning<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    model: &'a str,
    message: &'a mut Arc<Msg>,
    finish: FinishReason,
    control: &'a Control,
}

impl<'a> PostReasoning<'a> {
    /// Creates the event, for unit tests of hooks. Returns `None` if there is no message.
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        output: &'a mut Reasoned,
    ) -> Option<Self> {
        let Reasoned { model, message, finish, control } = output;
        Some(Self { agent, cx, model, message: message.as_mut()?, finish: *finish, control })
    }

    of_an_event!();

    /// Returns a copy of what it holds.
    pub(super) fn copy(&self) -> Reasoned {
        let reasoned = Reasoned::new(self.model, self.message.clone());
        Reasoned { finish: self.finish, control: self.control.clone(), ..reasoned }
    }

    /// Returns the name of the model that answered.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.model
    }

    /// Returns why the model ended its answer. An answer that was
    /// [cut](crate::model::FinishReason::is_cut) ends the call, unless a hook jumps to the model.
    #[must_use]
    pub fn finish_reason(&self) -> FinishReason {
        self.finish
    }

    /// Returns the answer.
    #[must_use]
    pub fn message(&self) -> &Msg {
        self.message
    }

    /// Returns a mutable reference to the answer.
    pub fn message_mut(&mut self) -> &mut Msg {
        Arc::make_mut(self.message)
    }

    /// Replaces the answer. Its tool calls run, whatever the name of the message.
    pub fn set_message(&mut self, msg: Msg) {
        *self.message = Arc::new(msg);
    }

    /// Returns the decision of earlier hooks.
    #[must_use]
    pub fn control(&self) -> &Control {
        self.control
    }

    /// Stops the call and returns to the caller: tool calls of the message wait for a result.
    pub fn stop(&self) -> Flow {
        Flow::stop()
    }

    /// Asks people about tool calls of the answer, by id: the call ends with
    /// [`PermissionAsking`](crate::message::GenerateReason::PermissionAsking), and no tool call of the
    /// answer runs before all questions are [decided](crate::call::CallOptions::decide). Until then they
    /// wait in the [store](crate::store::Store::waiting) of the agent.
    ///
    /// What several hooks ask about one tool call is one question, with all
    /// [who ask](crate::message::PendingCall::askers): it allows the decisions that all of them allow, or
    /// to reject if there is none, and expires when the first of them does. A stop by any hook overrides
    /// the questions.
    ///
    /// # Errors
    /// [`InputError::UnknownCalls`] if the answer has no tool call of an id.
    ///
    /// ```
    /// use hooks_agent::message::Question;
    /// use hooks_agent::prelude::*;
    ///
    /// let ask = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
    ///     let pay = event.message().tool_uses().filter(|call| call.name == "pay");
    ///     let asked: Vec<_> =
    ///         pay.map(|call| (call.id.clone(), Question::new("May I pay this?"))).collect();
    ///     Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
    /// });
    /// # let _ = ask;
    /// ```
    pub fn ask(
        &self,
        questions: impl IntoIterator<Item = (String, Question)>,
    ) -> Result<Flow, InputError> {
        self.ask_and_join(questions, std::iter::empty::<(String, String)>())
    }

    /// Joins the questions of other hooks about tool calls of the answer: where another hook
    /// [asks](Self::ask) about the tool call, people read this reason too. Where none does, nobody is asked
    /// here. For hooks that ask [before the tool](crate::event::PreActing::ask) what they know now already:
    /// people answer once.
    ///
    /// # Errors
    /// [`InputError::UnknownCalls`] if the answer has no tool call of an id.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// struct Night;
    ///
    /// #[agent_hook]
    /// impl Night {
    ///     fn join(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
    ///         let calls = event.message().tool_uses();
    ///         let reasons: Vec<_> = calls.map(|call| (call.id.clone(), "it is late")).collect();
    ///         Ok(event.join(reasons)?)
    ///     }
    ///
    ///     fn ask(&self, event: &mut PreActing<'_>) -> Flow {
    ///         event.ask("it is late")
    ///     }
    /// }
    /// # let _ = Night;
    /// ```
    pub fn join(
        &self,
        reasons: impl IntoIterator<Item = (String, impl Into<String>)>,
    ) -> Result<Flow, InputError> {
        self.ask_and_join(std::iter::empty(), reasons)
    }

    /// [Asks](Self::ask) about some tool calls, and [joins](Self::join) the questions of others about some.
    ///
    /// # Errors
    /// [`InputError::UnknownCalls`] if the answer has no tool call of an id.
    pub fn ask_and_join(
        &self,
        questions: impl IntoIterator<Item = (String, Question)>,
        reasons: impl IntoIterator<Item = (String, impl Into<String>)>,
    ) -> Result<Flow, InputError> {
        let questions = questions.into_iter().map(|(id, question)| (id, question, false));
        let reasons = reasons.into_iter().map(|(id, why)| (id, Question::new(why), true));
        let asked: Vec<_> = questions
            .chain(reasons)
            .map(|(id, question, joins)| {
                let call = self.message.tool_uses().find(|call| call.id == id);
                let about = call.map(|call| call.input.clone());
                let question = Question { is_held: true, about, ..question };
                AskedPeople { id, question, hook: None, joins }
            })
            .collect();
        let is_known = |id: &String| self.message.tool_uses().any(|call| call.id == *id);
        let unknown = asked.iter().map(|asked| &asked.id).filter(|id| !is_known(id));
        let ids: Vec<_> = unknown.cloned().collect();
        if !ids.is_empty() {
            return Err(InputError::UnknownCalls { ids });
        }
        Ok(if asked.is_empty() { Flow::Continue } else { Flow::then(Decided::AskPeople(asked)) })
    }

    /// Appends the message and then `messages` to memory and jumps to the next call of the model,
    /// which counts as a round.
    ///
    /// # Errors
    /// [`InputError::MissingResults`] if the message has tool calls that `messages` do not answer.
    /// [`InputError::DuplicateResult`] for two results of one tool call,
    /// [`InputError::UnknownResults`] for results of other tool calls,
    /// [`InputError::SystemMessage`] and [`InputError::MisplacedBlock`], as in a call.
    pub fn jump_to_model(&self, messages: impl Into<Messages>) -> Result<Flow, InputError> {
        let messages = messages.into();
        let calls: Vec<_> = self.message.tool_uses().cloned().collect();
        InputError::check_appended(&calls, &messages)?;
        InputError::check_answered(&calls, &messages)?;
        Ok(Flow::then(Decided::Jump(Jump { to: JumpTo::Model, messages })))
    }

    /// Ends the call with the message. Its tool calls get an error as result.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
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
