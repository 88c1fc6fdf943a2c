//! The events before and after a tool call.

use std::fmt;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::accessors::of_an_event;
use crate::event::flow::{Decided, Flow};
use crate::message::{Asker, Question, ToolOutput, ToolResult, ToolUse};
use crate::round::{Acted, ActingInput, Control, JumpTo};

/// The event before a tool call. The agent runs the tool call as hooks changed it; if it differs
/// from the model's, the result records it in [`ran`](ToolResult::ran).
///
/// Fires once for each tool call, before the permission check, and again when a tool call that
/// waited is resumed.
///
/// A hook that refuses a tool call. The model reads the reason and may try something else:
///
/// ```
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let guard = on(|event: &mut PreActing<'_>| match event.tool_use().input["path"].as_str() {
///     Some(path) if path.starts_with("/home/") => Flow::Continue,
///     _ => event.refuse("only files of /home"),
/// });
/// let read = FunctionTool::new("read", "Reads a file.", async |_: Value| "text");
/// // `model` calls the tool with another path and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({ "path": "/etc/hosts" })).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(guard).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), "only files of /home");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PreActing<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    input: &'a mut ActingInput,
    /// The name of the hook that receives the event.
    hook: Option<&'a str>,
}

impl<'a> PreActing<'a> {
    /// Creates the event, for unit tests of hooks.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut ActingInput) -> Self {
        Self { agent, cx, input, hook: None }
    }

    /// Names the hook that receives the event.
    pub(crate) fn set_hook(&mut self, name: &'a str) {
        self.hook = Some(name);
    }

    of_an_event!();

    /// Returns a copy of what it holds.
    pub(super) fn copy(&self) -> ActingInput {
        self.input.clone()
    }

    /// Returns the tool call.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.input.call
    }

    /// Returns the id of the model's tool call.
    pub(crate) fn id(&self) -> &str {
        self.input.id()
    }

    /// Returns a mutable reference to the tool call. A changed id has no effect: the result answers
    /// the model's tool call.
    pub fn tool_use_mut(&mut self) -> &mut ToolUse {
        self.input.call_mut()
    }

    /// Replaces the tool call.
    pub fn set_tool_use(&mut self, call: ToolUse) {
        self.input.call = call.into();
    }

    /// Returns the decision of earlier hooks.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.input.control
    }

    /// Answers with this output, a text or a [`ToolOutput`], instead of running the tool. `PostActing`
    /// follows.
    ///
    /// ```
    /// use hooks_agent::message::ToolOutput;
    /// use hooks_agent::prelude::*;
    /// use serde_json::json;
    ///
    /// let clock = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
    ///     "clock" => event.answer("noon"),
    ///     "weather" => event.answer(ToolOutput::json(json!({ "celsius": 21 }))),
    ///     _ => Flow::Continue,
    /// });
    /// # let _ = clock;
    /// ```
    pub fn answer(&self, output: impl Into<ToolOutput>) -> Flow {
        Flow::then(Decided::AnswerTool(ToolResult::success(self.tool_use(), output), None))
    }

    /// Answers with an error that the model reads.
    pub fn refuse(&self, reason: impl Into<String>) -> Flow {
        let reason: String = reason.into();
        Flow::then(Decided::AnswerTool(ToolResult::error(self.tool_use(), reason), None))
    }

    /// Asks the user for permission, unless this is [answered](Self::is_answered): the call ends with
    /// [`PermissionAsking`](crate::message::GenerateReason::PermissionAsking), and this tool call
    /// and those after it wait. [`Msg::pending`](crate::message::Msg::pending) lists them, with `why`
    /// and all others who ask about the tool call.
    ///
    /// The next call resumes the tool call, and this event fires again. Ask with the same `why` then:
    /// what people answered is this reason of this hook, so another one asks again. See
    /// [`PendingCall`](crate::message::PendingCall) for an example.
    pub fn ask(&self, why: impl Into<String>) -> Flow {
        self.ask_as(Asker::unnamed(why), None)
    }

    /// Asks like [`ask`](Self::ask), with what a question says beside its text: the decisions that it allows, who
    /// may decide, and for how long it waits. What several hooks ask is one question, as at
    /// [`PostReasoning`](crate::event::PostReasoning::ask).
    ///
    /// ```
    /// use hooks_agent::message::{Approvers, Question};
    /// use hooks_agent::prelude::*;
    ///
    /// let managers = Approvers::roles(["manager"]).not_self();
    /// let manager = on(move |event: &mut PreActing<'_>| match event.tool_use().input["euros"].as_u64() {
    ///     Some(0..=1000) => Flow::Continue,
    ///     _ => event.ask_with(Question::new("a large payment").approvers(managers.clone())),
    /// });
    /// # let _ = manager;
    /// ```
    pub fn ask_with(&self, question: Question) -> Flow {
        let asker = Asker::of(None, &question);
        self.ask_as(asker, Some(Box::new(question)))
    }

    fn ask_as(&self, asker: Asker, question: Option<Box<Question>>) -> Flow {
        let asker = Asker { hook: self.hook.map(str::to_owned), ..asker };
        if self.cx.is_answered(self.input, &asker) {
            return Flow::Continue;
        }
        Flow::then(Decided::Ask(asker, question))
    }

    /// Returns whether people let this tool call run, as it is here, when this hook asked for this
    /// reason; for a hook that [stopped](Self::stop) the call, the reason is empty. What they let run for
    /// others, or for another reason of this hook, does not count. A tool call that runs a sub-agent is
    /// answered while tool calls of the sub-agent wait: it began before.
    #[must_use]
    pub fn is_answered(&self, why: &str) -> bool {
        self.cx.is_answered_to(self.input, self.hook, why)
    }

    /// Returns what people decided about this tool call where this hook asked, for whatever reason:
    /// `Some(false)` if the tool call is another one now than the one that was shown, by its tool or its
    /// arguments; `None` if nobody let it run because this hook asked. For hooks that ask
    /// [before](crate::event::PostReasoning::ask) anything runs: what is not `Some(true)` does not run
    /// unasked.
    #[must_use]
    pub fn own_decision(&self) -> Option<bool> {
        self.cx.decided_for(self.input, self.hook)
    }

    /// Stops the call and returns to the caller: this tool call and those after it wait for a
    /// result.
    ///
    /// The next call resumes the tool call, and this event fires again. A hook that stops until the
    /// user [confirms](crate::call::CallOptions::confirm) checks for that:
    ///
    /// ```
    /// use hooks_agent::agent_hook;
    /// use hooks_agent::event::{Flow, PreActing};
    ///
    /// struct StopFirst;
    ///
    /// #[agent_hook]
    /// impl StopFirst {
    ///     fn ask(&self, event: &mut PreActing<'_>) -> Flow {
    ///         let is_payment = event.tool_use().name == "pay";
    ///         if is_payment && !event.is_answered("") { event.stop() } else { Flow::Continue }
    ///     }
    /// }
    /// ```
    pub fn stop(&self) -> Flow {
        Flow::stop()
    }

    /// Jumps to the next call of the model. This tool call and those after it get an error as
    /// result.
    pub fn jump_to_model(&self) -> Flow {
        Flow::jump(JumpTo::Model)
    }

    /// Ends the call. This tool call and those after it get an error as result.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
    }
}

/// The event after a tool call, with its result, which may be an error. Memory, the model and the
/// stream get the result as hooks changed it.
///
/// Fires once for each tool call that has a result. Error hooks receive the failure of a tool
/// before this event: to keep a text from them too, hook `tool_call` around.
///
/// A hook that redacts the result:
///
/// ```
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let redact = on(|event: &mut PostActing<'_>| {
///     event.tool_result_mut().output.map_text(|text| text.replace("hunter2", "***"));
/// });
/// let read = FunctionTool::new("read", "Reads a file.", async |_: Value| "password: hunter2");
/// // `model` calls the tool and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(redact).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), "password: ***");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct PostActing<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    call: &'a ToolUse,
    result: &'a mut ToolResult,
    control: &'a Control,
    has_run: bool,
    answered_by: Option<&'a str>,
}

impl<'a> PostActing<'a> {
    /// Creates the event, for unit tests of hooks. Returns `None` if there is no result.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, output: &'a mut Acted) -> Option<Self> {
        let Acted { call, result, control, has_run, answered_by } = output;
        let (has_run, answered_by) = (*has_run, answered_by.as_deref());
        Some(Self { agent, cx, call, result: result.as_mut()?, control, has_run, answered_by })
    }

    of_an_event!();

    /// Returns a copy of what it holds.
    pub(super) fn copy(&self) -> Acted {
        let acted = Acted::new(self.call.clone(), self.result.clone());
        let (control, has_run) = (self.control.clone(), self.has_run);
        let answered_by = self.answered_by.map(Into::into);
        Acted { control, has_run, answered_by, ..acted }
    }

    /// Returns the tool call that ran.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        self.call
    }

    /// Returns whether the tool ran. If it did not, a hook or the permission check supplied the
    /// result, or the tool call cannot run.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// Returns the name of the hook that [answered](PreActing::answer) or
    /// [refused](PreActing::refuse) the tool call.
    #[must_use]
    pub fn answered_by(&self) -> Option<&str> {
        self.answered_by
    }

    /// Returns the result.
    #[must_use]
    pub fn tool_result(&self) -> &ToolResult {
        self.result
    }

    /// Returns a mutable reference to the result.
    pub fn tool_result_mut(&mut self) -> &mut ToolResult {
        self.result
    }

    /// Replaces the result. A changed id has no effect: the result answers the model's tool call.
    pub fn set_tool_result(&mut self, result: ToolResult) {
        *self.result = result;
    }

    /// Returns the decision of earlier hooks.
    #[must_use]
    pub fn control(&self) -> &Control {
        self.control
    }

    /// Stops the call and returns to the caller: tool calls that did not run wait for a result.
    pub fn stop(&self) -> Flow {
        Flow::stop()
    }

    /// Jumps to the next call of the model. Tool calls that did not run get an error as result.
    pub fn jump_to_model(&self) -> Flow {
        Flow::jump(JumpTo::Model)
    }

    /// Ends the call. Tool calls that did not run get an error as result.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
    }
}

impl fmt::Debug for PreActing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreActing").field("input", &self.input).finish_non_exhaustive()
    }
}

impl fmt::Debug for PostActing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostActing")
            .field("call", &self.call)
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}
