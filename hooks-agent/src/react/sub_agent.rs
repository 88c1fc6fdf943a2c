//! An agent as a tool of another.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agent::{Agent, AgentExt};
use crate::call::CallOptions;
use crate::hook::HookList;
use crate::message::{GenerateReason, Msg};
use crate::react::agent::ReActAgent;
use crate::tool::{Tool, ToolContext, ToolFuture, schema_of};

/// What an agent that is a tool is given.
#[derive(Deserialize, JsonSchema)]
struct Task {
    /// What is to be done, with everything needed to know for it.
    task: String,
}

/// An agent as a tool of another, created by [`ReActAgent::as_tool`].
///
/// The sub-agent runs on the thread of its caller, the agent that uses it, with its own memory. An
/// interrupt of the caller interrupts it. The caller's stream has the events of both, and the
/// caller's usage includes both. The reply of the sub-agent is the output of the tool; if it fails,
/// is stopped, is interrupted or asks for permission, the output is an error. Hooks of the caller
/// that are marked [`inherit`](crate::AgentHook::inherit) also run in the sub-agent, after its own
/// hooks of equal priority.
pub struct AgentTool {
    agent: Arc<ReActAgent>,
    description: String,
    schema: Value,
}

impl ReActAgent {
    /// Returns this agent as a tool of another. The name of the tool is the name of the agent; the
    /// model reads the description.
    ///
    /// The tool shares the agent's memory. Hooks that are registered on the agent later do not run
    /// in the tool.
    ///
    /// ```
    /// use hooks_agent::{AgentExt, Msg, ReActAgent, ScriptedAnswer, ScriptedModel, ToolUse};
    /// use serde_json::json;
    ///
    /// # futures::executor::block_on(async {
    /// let poet = ScriptedModel::new("poet", |_| "Roses are red.");
    /// let poet = ReActAgent::builder("poet").model(poet).build()?;
    /// let model = ScriptedModel::new("editor", |request| -> ScriptedAnswer {
    ///     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    ///         Some(result) => format!("The poem: {}", result.output).into(),
    ///         None => ToolUse::new("1", "poet", json!({ "task": "a poem" })).into(),
    ///     }
    /// });
    /// let editor = ReActAgent::builder("editor")
    ///     .model(model)
    ///     .tool(poet.as_tool("Writes poems"))
    ///     .build()?;
    /// let reply = editor.call(Msg::user("I want a poem")).await?;
    /// assert_eq!(reply.text(), "The poem: Roses are red.");
    /// # Ok::<(), hooks_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn as_tool(&self, description: impl Into<String>) -> AgentTool {
        let agent = self.fork(self.core.tools.clone(), &HookList::default());
        let (agent, description) = (Arc::new(agent), description.into());
        AgentTool { agent, description, schema: schema_of::<Task>() }
    }
}

impl AgentTool {
    /// Returns the same tool with additional hooks, also in agents that are its tools.
    pub(super) fn inheriting(&self, hooks: &HookList<ReActAgent>) -> Self {
        let tools = inheriting(&self.agent.core.tools, hooks);
        let agent = Arc::new(self.agent.fork(tools, hooks));
        Self { agent, description: self.description.clone(), schema: self.schema.clone() }
    }
}

/// Returns the tools, with additional hooks in those that are agents.
pub(super) fn inheriting(
    tools: &[Arc<dyn Tool>],
    hooks: &HookList<ReActAgent>,
) -> Vec<Arc<dyn Tool>> {
    let more = |tool: &Arc<dyn Tool>| -> Arc<dyn Tool> {
        let any: &dyn std::any::Any = &**tool;
        match any.downcast_ref::<AgentTool>() {
            Some(agent) if !hooks.is_empty() => Arc::new(agent.inheriting(hooks)),
            _ => tool.clone(),
        }
    };
    tools.iter().map(more).collect()
}

impl Tool for AgentTool {
    fn name(&self) -> &str {
        self.agent.name()
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let Task { task } = Task::deserialize(&cx.tool_use().input)?;
            let options = CallOptions::new().child_of(cx.call());
            let reply = self.agent.call_with(options.clone(), Msg::user(task)).await?;
            match reply.reason {
                Some(
                    reason @ (GenerateReason::ReasoningStopRequested
                    | GenerateReason::ActingStopRequested
                    | GenerateReason::PermissionAsking),
                ) => {
                    // The caller cannot answer the waiting tool calls, so the next task must not
                    // wait for them.
                    self.agent.give_up_calls(&self.agent.context(options));
                    Err(format!("the agent was stopped before it was done: {reason:?}").into())
                }
                Some(GenerateReason::Interrupted) => Err("the agent was interrupted".into()),
                _ => Ok(reply.text()),
            }
        })
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("agent", &self.agent).finish_non_exhaustive()
    }
}
