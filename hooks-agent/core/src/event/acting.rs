//! The events before and after a tool call.

use std::fmt;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::accessors::of_an_event;
use crate::event::flow::{Decided, Flow};
use crate::message::{ToolOutput, ToolResult, ToolUse};
use crate::round::{Acted, ActingInput, Ask, Control, JumpTo};

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
}

impl<'a> PreActing<'a> {
    /// Creates the event, for unit tests of hooks.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut ActingInput) -> Self {
        Self { agent, cx, input }
    }

    of_an_event!();

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

    /// Asks the user for permission, unless the caller
    /// [confirmed](crate::call::CallOptions::confirm) the tool call: the call ends with
    /// [`PermissionAsking`](crate::message::GenerateReason::PermissionAsking), and this tool call
    /// and those after it wait. [`Msg::pending`](crate::message::Msg::pending) lists them, with
    /// `why`.
    ///
    /// The next call resumes the tool call, and this event fires again. See
    /// [`PendingCall`](crate::message::PendingCall) for an example.
    pub fn ask(&self, why: impl Into<String>) -> Flow {
        // What was allowed may differ from what hooks made of it since.
        let confirmed = self.cx.confirmed(self.input.id());
        if confirmed.is_some_and(|confirmed| confirmed.allows(&self.input.call)) {
            return Flow::Continue;
        }
        let question = Ask { permission: Some(why.into()), ..Ask::default() };
        Flow::then(Decided::Ask(Box::new(question)))
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
    /// struct AskFirst;
    ///
    /// #[agent_hook]
    /// impl AskFirst {
    ///     fn ask(&self, event: &mut PreActing<'_>) -> Flow {
    ///         let call = event.tool_use();
    ///         let is_confirmed = event.context().is_confirmed(&call.id);
    ///         if call.name == "pay" && !is_confirmed { event.stop() } else { Flow::Continue }
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
