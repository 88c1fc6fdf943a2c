//! The events around a tool call.

use std::fmt;

use crate::agent::Agent;
use crate::context::CallContext;
use crate::event::accessors::of_a_call;
use crate::event::{Decided, Flow};
use crate::message::{ToolResult, ToolUse};
use crate::step::{Acted, ActingInput, Control, JumpTo};

/// A tool is about to run. What the hooks make of the call is what runs, and it is recorded beside the
/// call of the model.
///
/// Fired once for each tool call, before the tool is asked for permission; again when a call that
/// waited is taken up.
pub struct PreActing<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    input: &'a mut ActingInput,
}

impl<'a> PreActing<'a> {
    /// The event, for trying a hook out.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, input: &'a mut ActingInput) -> Self {
        Self { agent, cx, input }
    }

    of_a_call!();

    /// The tool call.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.input.call
    }

    /// The tool call, to be changed. Whatever its id, the result goes to the call of the model.
    pub fn tool_use_mut(&mut self) -> &mut ToolUse {
        &mut self.input.call
    }

    /// Puts another tool call in its place.
    pub fn set_tool_use(&mut self, call: ToolUse) {
        self.input.call = call;
    }

    /// What earlier hooks decided.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.input.control
    }

    /// Answers in place of the tool; `PostActing` follows.
    pub fn answer(&self, result: ToolResult) -> Flow {
        Flow::then(Decided::AnswerTool(result))
    }

    /// Answers with an error for the model to read.
    pub fn refuse(&self, reason: impl Into<String>) -> Flow {
        self.answer(ToolResult::error(self.tool_use(), reason))
    }

    /// Gives control back to the caller: this tool call and those after it wait for an answer.
    ///
    /// The next call takes it up again, and this event is fired again: a hook that stops until a person
    /// has [confirmed](crate::CallOptions::confirm) asks for that.
    ///
    /// ```
    /// use hooks_agent::{Flow, PreActing, agent_hook};
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
        Flow::then(Decided::Stop)
    }

    /// Asks the model again; this tool call and those after it are answered by an error.
    pub fn jump_to_model(&self) -> Flow {
        Flow::jump(JumpTo::Model)
    }

    /// Ends the call; this tool call and those after it are answered by an error.
    pub fn jump_to_end(&self) -> Flow {
        Flow::jump(JumpTo::End)
    }
}

/// A tool call has its result, which may be an error. What the hooks make of it is what memory, the
/// model and the stream get.
///
/// Fired once for each tool call that has a result.
pub struct PostActing<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    call: &'a ToolUse,
    result: &'a mut ToolResult,
    control: &'a Control,
}

impl<'a> PostActing<'a> {
    /// The event, for trying a hook out; `None` if there is no result.
    pub fn new(agent: &'a dyn Agent, cx: &'a CallContext, output: &'a mut Acted) -> Option<Self> {
        let Acted { call, result, control } = output;
        Some(Self { agent, cx, call, result: result.as_mut()?, control })
    }

    of_a_call!();

    /// The tool call that ran.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        self.call
    }

    /// The result.
    #[must_use]
    pub fn tool_result(&self) -> &ToolResult {
        self.result
    }

    /// The result, to be changed.
    pub fn tool_result_mut(&mut self) -> &mut ToolResult {
        self.result
    }

    /// Puts another result in its place. Whatever its id, it answers the call of the model.
    pub fn set_tool_result(&mut self, result: ToolResult) {
        *self.result = result;
    }

    /// What earlier hooks decided.
    #[must_use]
    pub fn control(&self) -> &Control {
        self.control
    }

    /// Gives control back to the caller: tool calls that did not run wait for an answer.
    pub fn stop(&self) -> Flow {
        Flow::then(Decided::Stop)
    }

    /// Asks the model again; tool calls that did not run are answered by an error.
    pub fn jump_to_model(&self) -> Flow {
        Flow::jump(JumpTo::Model)
    }

    /// Ends the call; tool calls that did not run are answered by an error.
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
