//! An agent as a tool of another.

use std::fmt;
use std::sync::Arc;

use hooks_core::BoxError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agent::{Agent, AgentExt, memory_below};
use crate::call::CallOptions;
use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{GenerateReason, Messages, Msg, PendingCall, PendingReason, Question};
use crate::react::agent::ReActAgent;
use crate::tool::{Effect, Tool, ToolContext, ToolError, ToolFuture, schema_of};

/// A task for the agent.
#[derive(Deserialize, JsonSchema)]
struct Task {
    /// The task, with all the information that it needs.
    task: String,
}

/// An agent as a tool of another, created by [`ReActAgent::to_tool`].
///
/// The sub-agent runs on the thread of its caller, the agent that uses it, with its own memory. An
/// interrupt of the caller interrupts it. The caller's stream has the events of both, and the
/// caller's usage includes both. The reply of the sub-agent is the output of the tool; if it fails
/// or is interrupted, the output is an error. Hooks of the caller, and of its own callers, that are
/// marked [`inherit`](crate::hook::AgentHook::inherit) when the sub-agent starts also run in it,
/// after its own hooks of equal priority.
///
/// If tool calls of the sub-agent wait for a result, because one asks for permission or a hook
/// stopped it, the caller stops too, and its reply [lists](crate::message::Msg::pending) them. When
/// the caller is resumed, the confirmations and results for their
/// [ids](crate::message::PendingCall::id) go down to the sub-agent, which goes on with its task.
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
    /// use hooks_agent::prelude::*;
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
    ///     .tool(poet.to_tool("Writes poems"))
    ///     .build()?;
    /// let reply = editor.call(Msg::user("I want a poem")).await?;
    /// assert_eq!(reply.text(), "The poem: Roses are red.");
    /// # Ok::<(), hooks_agent::error::AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn to_tool(&self, description: impl Into<String>) -> AgentTool {
        let (agent, description) = (Arc::new(self.fork()), description.into());
        AgentTool { agent, description, schema: schema_of::<Task>() }
    }
}

impl AgentTool {
    /// Returns what a person is asked about a tool call that asks for permission.
    fn question(&self, pending: &PendingCall) -> Option<Question> {
        let PendingReason::Permission(text) = &pending.why else { return None };
        let tool = self.agent.tool(&pending.call.name)?;
        Some(Question { schema: tool.schema().clone(), ..Question::new(text) })
    }

    /// Returns the agent.
    pub(super) fn agent(&self) -> &ReActAgent {
        &self.agent
    }

    /// Returns the call of the agent for a tool call: the rest of an earlier task that asked the
    /// user, or a new task.
    fn task(
        &self,
        cx: &ToolContext,
        memory: &Arc<Memory>,
    ) -> Result<(CallOptions, Messages), BoxError> {
        let id = cx.tool_use().id.as_str();
        let key = cx.call().checked().and_then(|checked| checked.key().cloned());
        let options = CallOptions::new().child_of(cx.call()).through(id, key);
        // Without a question, another call may be running the tool calls: this one queues behind it.
        if let Some(asking) = memory.asking().filter(|_| !memory.pending().is_empty()) {
            let through = asking.through.as_ref();
            let is_mine = through.is_some_and(|through| *through.agent == *cx.call().agent_id());
            let is_resumed = through.is_some_and(|through| cx.call().is_resumed(&through.call));
            // A question that was given up is not resumed, also if the model uses the id again.
            let waits = is_mine && (is_resumed || asking.caller == Some(cx.call().run_id()));
            if waits && through.is_some_and(|through| *through.call == *id) {
                let (confirmed, answers) = cx.call().decisions_below(id, asking.caller);
                let options = confirmed.into_iter().fold(options, CallOptions::confirmed);
                let answers = answers.into_iter().map(Msg::tool_result);
                return Ok((options, answers.collect()));
            }
            if !is_mine || waits {
                return Err("the agent waits for an answer to an earlier task".into());
            }
            // The earlier task is given up: its tool call has a result by now.
            let given_up = self.agent.context(options.clone());
            given_up.set_memory(memory.clone());
            self.agent.give_up_calls(&given_up);
        }
        let Task { task } = Task::deserialize(&cx.tool_use().input)?;
        Ok((options, Msg::user(task).into()))
    }
}

#[diagnostic::do_not_recommend]
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

    /// It does what its tools do.
    fn effect(&self) -> Effect {
        let tools = self.agent.core.tools.iter();
        tools.map(|tool| tool.known_effect()).max().unwrap_or(Effect::Reads)
    }

    fn continues(&self) -> bool {
        true
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let memory = memory_below(&*self.agent, cx.call()).await?;
            // An earlier task is given up only by a call that may use the thread.
            let below = self.agent.context(CallOptions::new().child_of(cx.call()));
            below.check_thread(&memory)?;
            let (options, messages) = self.task(&cx, &memory)?;
            let reply = match self.agent.call_with(options, messages).await {
                // The call of the caller ends here too, and goes on with this one.
                Err(AgentError::ShutDown { agent }) if cx.call().shuts_down() => {
                    return Err(ToolError::ShutDown { agent }.into());
                }
                reply => reply?,
            };
            if !reply.pending().is_empty() {
                let below = |pending: &PendingCall| {
                    let mut pending = pending.clone();
                    if pending.question.is_none() && pending.agents.is_empty() {
                        pending.question = self.question(&pending).map(Box::new);
                    }
                    pending.below(&cx.tool_use().id, self.agent.name())
                };
                let pending = reply.pending().iter().map(below).collect();
                return Err(ToolError::Waiting { pending }.into());
            }
            match reply.reason {
                Some(
                    reason @ (GenerateReason::ReasoningStopRequested
                    | GenerateReason::ActingStopRequested),
                ) => Err(format!("the agent was stopped before it was done: {reason:?}").into()),
                Some(GenerateReason::Interrupted) => Err("the agent was interrupted".into()),
                Some(GenerateReason::Length) => {
                    Ok(format!("{}\n[cut: the agent reached its limit of tokens]", reply.text())
                        .into())
                }
                Some(GenerateReason::ContentFilter) => {
                    Ok(format!("{}\n[cut: by a content filter]", reply.text()).into())
                }
                _ => Ok(reply.text().into()),
            }
        })
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("agent", &self.agent).finish_non_exhaustive()
    }
}
