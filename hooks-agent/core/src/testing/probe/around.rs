//! The calls that a hook runs around, with the test in place of the model or the tool.

use std::fmt::{self, Debug};
use std::sync::Arc;

use futures::channel::oneshot;
use hooks_core::{BoxError, HookOptions, Hookable, hook};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::EventMask;
use crate::hook::{AgentHook, AroundMask, ModelCall, NextModel, NextTool, ToolCall};
use crate::message::{Msg, ToolOutput, ToolResult, ToolUse};
use crate::model::{ChatRequest, ModelAnswer, ModelError, ScriptedAnswer, ScriptedModel};
use crate::react::{ReActAgent, ReActAgentModelCallArgs, ReActAgentToolCallArgs};
use crate::round::ReasoningInput;
use crate::testing::probe::MODEL;
use crate::testing::probe::call::{NotInterested, Probe};
use crate::testing::probe::exchange::{Exchange, Requests, pass_on};
use crate::tool::ToolError;

/// A model call inside of a hook, as [`Probe::around_model`] starts it: the test answers the
/// requests that the hook passes on.
#[must_use = "a call runs when its requests or its answer are awaited"]
pub struct AroundModel(Exchange<ChatRequest, ScriptedAnswer, Result<Msg, AgentError>>);

/// A tool call inside of a hook, as [`Probe::around_tool`] starts it: the test answers the tool
/// calls that the hook passes on.
#[must_use = "a call runs when its requests or its answer are awaited"]
pub struct AroundTool(
    Exchange<Arc<ToolUse>, Result<ToolOutput, BoxError>, Result<ToolResult, ToolError>>,
);

/// A request that a hook passed on to the model. Dropped without an answer, it fails.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The request.
    pub request: ChatRequest,
    answer: oneshot::Sender<ScriptedAnswer>,
}

/// A tool call that a hook passed on to the tool. Dropped without an answer, it fails.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The tool call.
    pub call: Arc<ToolUse>,
    answer: oneshot::Sender<Result<ToolOutput, BoxError>>,
}

impl<H: AgentHook> Probe<H> {
    /// Starts a model call with this request inside of the hook.
    ///
    /// ```
    /// use hooks_agent::hook::{ModelCall, NextModel};
    /// use hooks_agent::model::{ModelAnswer, ModelError};
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::testing::Probe;
    ///
    /// struct Retry;
    ///
    /// #[agent_hook]
    /// impl Retry {
    ///     async fn retry(
    ///         &self,
    ///         call: ModelCall<'_>,
    ///         next: NextModel<'_>,
    ///     ) -> Result<ModelAnswer, AgentError> {
    ///         match next.run(call.request().clone()).await {
    ///             Err(AgentError::Model(_)) => next.run(call.into_request()).await,
    ///             answer => answer,
    ///         }
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let mut call = Probe::new(Retry).around_model(ChatRequest::new("hello"))?;
    /// call.next_request().await.respond(ModelError::status("probe", 429));
    /// call.next_request().await.respond("I am here.");
    /// assert_eq!(call.answer().await?.text(), "I am here.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not run around model calls.
    pub fn around_model(&self, request: ChatRequest) -> Result<AroundModel, NotInterested> {
        let (agent, cx) = self.inside(AroundMask::MODEL_CALL, "model calls")?;
        Ok(AroundModel(Exchange::start(|requests: Requests<_, ScriptedAnswer>| {
            let inner = hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, _| {
                let ReActAgentModelCallArgs { request, .. } = args;
                let Ok(answer) = pass_on(&requests, request.clone()).await else {
                    let (model, reason) = (MODEL.to_owned(), "the request was dropped".to_owned());
                    return Err(ModelError::Failed { model, reason }.into());
                };
                let model = ScriptedModel::new(MODEL, move |_| answer.clone());
                Ok(ModelAnswer::ask(&model, request).await?)
            });
            agent.register_instance_hook(ReActAgent::AROUND_MODEL_CALL, innermost(), inner);
            async move {
                let mut input = ReasoningInput::new(MODEL, request.messages);
                (input.tools, input.options) = (request.tools, request.options);
                let reasoned = agent.reasoning(cx, input).await?;
                let skipped = "a hook of the agent's type kept the model from being called";
                let answer = reasoned.message.ok_or_else(|| AgentError::other(skipped))?;
                Ok(Arc::unwrap_or_clone(answer))
            }
        })))
    }

    /// Starts a tool call inside of the hook.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not run around tool calls.
    pub fn around_tool(&self, call: ToolUse) -> Result<AroundTool, NotInterested> {
        let (agent, cx) = self.inside(AroundMask::TOOL_CALL, "tool calls")?;
        Ok(AroundTool(Exchange::start(|requests: Requests<_, Result<ToolOutput, BoxError>>| {
            let inner = hook!(ReActAgent::AROUND_TOOL_CALL, async move |_, args, _| {
                let ReActAgentToolCallArgs { call, .. } = args;
                let answer = pass_on(&requests, call.clone()).await;
                match answer.unwrap_or_else(|_| Err("the tool call was dropped".into())) {
                    Ok(output) => Ok(ToolResult::success(&call, output)),
                    Err(error) => Err(match error.downcast() {
                        Ok(error) => *error,
                        Err(error) => ToolError::Failed(error),
                    }),
                }
            });
            agent.register_instance_hook(ReActAgent::AROUND_TOOL_CALL, innermost(), inner);
            async move { agent.tool_call(cx, Arc::new(call)).await }
        })))
    }

    /// Returns an agent whose hook runs around these calls alone.
    fn inside(
        &self,
        calls: AroundMask,
        name: &'static str,
    ) -> Result<(ReActAgent, CallContext), NotInterested> {
        if !self.hook.around().contains(calls) {
            return Err(self.not_interested(name));
        }
        let (agent, cx) = self.call_without_hooks();
        agent.register_agent_hook(Around { hook: self.hook.clone(), calls });
        Ok((agent, cx))
    }
}

impl AroundModel {
    /// Waits for the next request that the hook passes on.
    ///
    /// # Panics
    /// Panics if the call ends without a further request.
    pub async fn next_request(&mut self) -> ModelRequest {
        let (request, answer) = self.0.next().await;
        ModelRequest { request, answer }
    }

    /// Waits for the end of the call.
    ///
    /// # Errors
    /// The errors of the hook, and of the model as the hook passed them on.
    ///
    /// # Panics
    /// Panics if the hook passes on a further request.
    pub async fn answer(self) -> Result<Msg, AgentError> {
        self.0.end().await
    }
}

impl AroundTool {
    /// Waits for the next tool call that the hook passes on.
    ///
    /// # Panics
    /// Panics if the call ends without a further tool call.
    pub async fn next_request(&mut self) -> ToolRequest {
        let (call, answer) = self.0.next().await;
        ToolRequest { call, answer }
    }

    /// Waits for the end of the call.
    ///
    /// # Errors
    /// The errors of the hook, and of the tool as the hook passed them on.
    ///
    /// # Panics
    /// Panics if the hook passes on a further tool call.
    pub async fn answer(self) -> Result<ToolResult, ToolError> {
        self.0.end().await
    }
}

impl ModelRequest {
    /// Answers as the model: with text, a tool call, blocks, or a
    /// [`ModelError`](crate::model::ModelError).
    pub fn respond(self, answer: impl Into<ScriptedAnswer>) {
        // A hook that no longer waits has dropped the receiver.
        let _ = self.answer.send(answer.into());
    }
}

impl ToolRequest {
    /// Answers as the tool.
    pub fn respond(self, output: impl Into<ToolOutput>) {
        // A hook that no longer waits has dropped the receiver.
        let _ = self.answer.send(Ok(output.into()));
    }

    /// Fails as the tool. A [`ToolError`] stays as it is.
    pub fn fail(self, error: impl Into<BoxError>) {
        let _ = self.answer.send(Err(error.into()));
    }
}

/// The options of a hook inside of all others.
fn innermost() -> HookOptions {
    HookOptions::named("probe").priority(i32::MAX)
}

/// The part of a hook that runs around calls.
struct Around<H> {
    hook: Arc<H>,
    calls: AroundMask,
}

impl<H: AgentHook> AgentHook for Around<H> {
    fn name(&self) -> String {
        self.hook.name()
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        self.calls
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        self.hook.around_model_call(call, next).await
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.hook.around_tool_call(call, next).await
    }
}

impl Debug for AroundModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AroundModel").finish_non_exhaustive()
    }
}

impl Debug for AroundTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AroundTool").finish_non_exhaustive()
    }
}
