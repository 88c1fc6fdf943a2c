//! A limit of tool calls.

use hooks_core::{HookResult, HookRole};

use crate::limit::calls::batch::{Batch, Verdict};
use crate::limit::calls::counts::{Counter, Limits};
use crate::limit::calls::limit_style::LimitStyle;
use crate::limit::exit::Exit;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, EventMask, Flow, PostReasoning, PreActing, PreCall};
use hooks_agent_core::hook::{AgentHook, AroundMask, ModelCall, NextModel, NextTool, ToolCall};
use hooks_agent_core::message::{GenerateReason, ToolResult};
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::tool::ToolError;

/// Limits how many calls of a tool, or of all tools, a run and a thread make.
///
/// The tool calls of an answer are decided in order, before any of them runs: those beyond the
/// limit get an error as result. It protects from loops and from tools that cost money by call. It
/// does not limit what one tool call does, and calls that a program makes by itself are no tool
/// calls.
///
/// | setting | default | |
/// |---|---|---|
/// | [`thread`](crate::limit::ToolCallLimitBuilder::thread) | none | tool calls of a thread, over all its calls |
/// | [`run`](crate::limit::ToolCallLimitBuilder::run) | none | tool calls of a run, with those that were refused |
/// | [`exit`](crate::limit::ToolCallLimitBuilder::exit) | [`Exit::Continue`] | what happens beyond the limit |
/// | [`text`](crate::limit::ToolCallLimitBuilder::text) | names the limit | what the reply says with [`Exit::End`] |
/// | [`style`](crate::limit::ToolCallLimitBuilder::style) | [`BeforeExecution`](LimitStyle::BeforeExecution) | when the limit is enforced |
/// | [`counting_sub_agents`](crate::limit::ToolCallLimitBuilder::counting_sub_agents) | `false` | whether tool calls of sub-agents count here |
/// | [`counter`](crate::limit::ToolCallLimitBuilder::counter) | the name of the hook | the name of the thread value with the counts |
///
/// With [`Exit::End`], all tool calls of the batch get an error, and the call ends with a text
/// instead of calling the model again. With [`Exit::Error`], the call fails and none of them runs.
///
/// A tool call counts when the model makes it, also if a hook or the user refuses it later. One
/// that waits for approval, or that a hook retries, counts once. Tool calls that hooks add or
/// change to a limited tool are decided when their turn comes.
///
/// It runs at priority [200](ToolCallLimit::PRIORITY), after hooks that
/// [ask](hooks_agent_core::event::PreActing::ask) the user at `PreActing`, who is not asked about a tool call that is
/// beyond the limit. [`HumanInTheLoop`](crate::people::HumanInTheLoop), which asks before any tool of
/// the answer, and a decider in the program are asked. It runs in sub-agents and in nested
/// calls. Its name is `ToolCallLimit`, or `ToolCallLimit[search]` for the tool `search`; several
/// limits count on their own.
///
/// # Errors
/// [`ToolCallLimitExceeded`](crate::limit::ToolCallLimitExceeded) with [`Exit::Error`]. A call
/// fails if its counts cannot be read.
///
/// ```
/// use hooks_agent::builtin::limit::ToolCallLimit;
/// use hooks_agent::prelude::*;
/// use hooks_agent::testing::{Calls, Script};
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// let search = Calls::new("search").answers("42");
/// let call = |id| ToolUse::new(id, "search", json!({}));
/// let script = Script::new().calls([call("1"), call("2")]).says("It is 42.");
/// let limit = ToolCallLimit::of("search").run(1).build()?;
/// let agent = ReActAgent::builder("bot")
///     .model(script.clone())
///     .tool(search.clone())
///     .hook(limit)
///     .build()?;
/// assert_eq!(agent.call("What is the answer?").await?.text(), "It is 42.");
/// search.assert_called_with([json!({})]);
/// let results = script.requests()[1].messages.clone();
/// let result = results.last().unwrap().tool_results().next().unwrap();
/// assert_eq!(result.output, "Tool call limit exceeded. Do not call 'search' again.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct ToolCallLimit {
    pub(super) tool: Option<String>,
    pub(super) limits: Limits,
    pub(super) exit: Exit,
    pub(super) text: Option<String>,
    pub(super) style: LimitStyle,
    pub(super) counter: Counter,
}

impl ToolCallLimit {
    /// The default priority: after hooks that ask for approval, inside of hooks that retry.
    pub const PRIORITY: i32 = 200;

    pub(super) fn name_for(tool: Option<&str>) -> String {
        tool.map_or_else(|| "ToolCallLimit".to_owned(), |tool| format!("ToolCallLimit[{tool}]"))
    }

    /// Returns the name of the value in the thread of a call with what was decided.
    pub(super) fn batch_name(&self, cx: &CallContext) -> String {
        format!("{}/batch", cx.counter_name(&self.counter.name))
    }
}

#[agent_hook(
    name = Self::name_for(self.tool.as_deref()),
    priority = Self::PRIORITY,
    role = HookRole::Limits,
    inherit,
    always,
    events = self.events_of(),
    around = self.around_of(),
    tool_names = |hook: &Self| hook.tool.iter().map(ToString::to_string).collect(),
    counter = |hook: &Self| Some(hook.counter.name.clone())
)]
impl ToolCallLimit {
    fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        self.counter.begin(event)?;
        Batch::begin(&self.batch_name(event.context()), event)?;
        Ok(())
    }

    fn post_reasoning(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        self.decide(event)
    }

    fn pre_acting(&self, event: &mut PreActing<'_>) -> HookResult<Flow> {
        self.act(event)
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        match self.end(call.context()) {
            Err(error) => Err(next.fail(error)),
            Ok(None) => next.run(call.into_request()).await,
            Ok(Some(text)) => {
                let reason = GenerateReason::LimitReached;
                Ok(ModelAnswer::in_place(self.name(), text, reason))
            }
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let verdict = match self.style {
            LimitStyle::BeforeExecution => self.verdict(call.context(), call.tool_use()),
            LimitStyle::NextModelCall => Ok(Verdict::Allowed),
        };
        let verdict = match verdict {
            Ok(verdict) => verdict,
            Err(error) => return Err(next.fail(error)),
        };
        match self.refusal(verdict) {
            // A result, since a hook that retries repeats an error of the tool.
            Some(reason) => Ok(ToolResult::error(call.tool_use(), reason)),
            None => {
                self.counter.commit(call.context(), self.limits).await?;
                next.run(call.into_tool_use()).await
            }
        }
    }

    fn events_of(&self) -> EventMask {
        match self.style {
            LimitStyle::BeforeExecution => EventMask::ALL,
            LimitStyle::NextModelCall => {
                EventMask::of(&[EventKind::PreCall, EventKind::PostReasoning])
            }
        }
    }

    fn around_of(&self) -> AroundMask {
        let decides_later = self.style == LimitStyle::NextModelCall;
        let mut around = AroundMask::NONE;
        if decides_later || self.exit == Exit::End {
            around = around | AroundMask::MODEL_CALL;
        }
        // The count of a thread is written before a tool runs, and a hook around a tool call may turn it
        // into one of the limited tool.
        if self.limits.thread.is_some() || (self.tool.is_some() && !decides_later) {
            around = around | AroundMask::TOOL_CALL;
        }
        around
    }
}
