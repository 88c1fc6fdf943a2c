//! A tool call, for a hook around it.

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::of_a_call;
use crate::message::ToolUse;
use crate::model::ToolSpec;
use crate::tool::{Effect, Tool};

/// A call of a tool, for a hook around it. The permission check has passed. The permission of a
/// changed tool call is checked again before it runs: without it, it fails with
/// [`ToolError::Denied`](crate::tool::ToolError::Denied). What the user confirmed is the tool, whatever its arguments.
///
/// A hook that adds an argument of which the model does not know:
///
/// ```
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// struct Tenant(&'static str);
///
/// #[agent_hook]
/// impl Tenant {
///     async fn set(
///         &self,
///         mut call: ToolCall<'_>,
///         next: NextTool<'_>,
///     ) -> Result<ToolResult, ToolError> {
///         call.tool_use_mut().input["tenant"] = json!(self.0);
///         next.run(call.into_tool_use()).await
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let read = FunctionTool::new("read", "Reads.", async |input: Value| input.to_string());
/// // `model` calls the tool and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(Tenant("a")).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), r#"{"tenant":"a"}"#);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct ToolCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    tool_use: Arc<ToolUse>,
    spec: Option<&'a ToolSpec>,
    tool: Option<&'a dyn Tool>,
    runs_agent: bool,
    hook: Option<&'a str>,
}

impl<'a> ToolCall<'a> {
    pub(crate) fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        tool_use: Arc<ToolUse>,
        spec: Option<&'a ToolSpec>,
        tool: Option<&'a dyn Tool>,
    ) -> Self {
        Self { agent, cx, tool_use, spec, tool, runs_agent: false, hook: None }
    }

    /// Sets whether the tool runs an agent.
    pub(crate) fn of_agent(self, runs_agent: bool) -> Self {
        Self { runs_agent, ..self }
    }

    /// Sets the name by which the hook asks people.
    pub(crate) fn of_hook(self, hook: &'a str) -> Self {
        Self { hook: Some(hook), ..self }
    }

    /// Returns whether people let this tool call run, as it is here, when this hook
    /// [asked](crate::hook::NextTool::ask) for this reason.
    #[must_use]
    pub fn is_answered(&self, why: &str) -> bool {
        let id = self.cx.checked().map_or(&*self.tool_use.id, |checked| checked.id());
        self.cx.is_answered_around(id, &self.tool_use, self.hook, why)
    }

    /// Returns the description of the tool, as the agent sends it to the model: of the tool of the
    /// call that the hook received, also if the hook changes the call. An unknown tool has none.
    #[must_use]
    pub fn tool_spec(&self) -> Option<&'a ToolSpec> {
        self.spec
    }

    /// Returns whether the tool is [idempotent](crate::tool::Tool::is_idempotent), so that it may run
    /// again after an error: the tool of the call that the hook received, also if the hook changes
    /// the call. An unknown tool is not.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.tool.is_some_and(Tool::is_idempotent)
    }

    /// Returns what the tool [does](crate::tool::Tool::effect) outside of the agent: the tool of the call that
    /// the hook received, also if the hook changes the call. Of an unknown tool, as of one that says nothing.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.tool.map_or(Effect::Changes, <dyn Tool>::known_effect)
    }

    /// Returns the [server](crate::tool::Tool::server) that the tool comes from, if it is not one of the program:
    /// the tool of the call that the hook received, also if the hook changes the call.
    #[must_use]
    pub fn server(&self) -> Option<&'a str> {
        self.tool.and_then(Tool::server)
    }

    /// Returns whether the tool is an [agent](crate::react::AgentTool), whose own calls have hooks too:
    /// the tool of the call that the hook received, also if the hook changes the call.
    #[must_use]
    pub fn runs_agent(&self) -> bool {
        self.runs_agent
    }

    of_a_call!();

    /// Returns the tool call.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.tool_use
    }

    /// Returns a mutable reference to the tool call. If the tool runs, the result records the change
    /// in [`ran`](crate::message::ToolResult::ran), also if the tool fails. A changed id has no effect: the result
    /// answers the model's tool call.
    pub fn tool_use_mut(&mut self) -> &mut ToolUse {
        Arc::make_mut(&mut self.tool_use)
    }

    /// Returns the tool call, to pass it on.
    #[must_use]
    pub fn into_tool_use(self) -> Arc<ToolUse> {
        self.tool_use
    }
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("tool_use", &self.tool_use).finish_non_exhaustive()
    }
}
