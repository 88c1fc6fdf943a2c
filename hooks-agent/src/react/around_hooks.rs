//! Registers event hooks around the calls of the model and of tools.

use std::sync::Arc;
use std::time::Instant;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::{CallContext, CheckedCall};
use crate::error::AgentError;
use crate::hook::{
    AgentHook, AroundMask, AroundRun, Inner, Installed, ModelCall, NextModel, NextTool, NoteInside,
    Registration, Target, ToolCall, level_of,
};
use crate::message::{ToolResult, ToolUse};
use crate::model::{ChatRequest, ModelAnswer};
use crate::react::agent::ReActAgent;
use crate::react::methods::{ReActAgentModelCallArgs, ReActAgentToolCallArgs};
use crate::tool::ToolError;

pub(super) fn install_around<H: AgentHook>(
    target: &impl Target<ReActAgent>,
    hook: &Arc<H>,
    registration: &Registration,
) {
    if registration.around.contains(AroundMask::MODEL_CALL) {
        let hook = Installed::new(hook, registration, level_of(target));
        let hook = hook!(ReActAgent::AROUND_MODEL_CALL, async move |agent, args, next| {
            let ReActAgentModelCallArgs { cx, request } = args;
            let run = AroundRun::of_model(&hook, &cx, &request).map(Box::new);
            let note = run.as_deref().map(|run| run as &dyn NoteInside);
            let inner = InnerModel { next, cx: cx.clone(), note };
            let call = ModelCall::new(agent, &cx, &*agent.core.model, request);
            let ended = hook.hook.around_model_call(call, NextModel::new(&inner)).await;
            if let Some(run) = &run {
                run.end(None, ended.is_err());
            }
            ended
        });
        let options = registration.options();
        target.register(ReActAgent::AROUND_MODEL_CALL, options, hook);
    }
    if registration.around.contains(AroundMask::TOOL_CALL) {
        let hook = Installed::new(hook, registration, level_of(target));
        let hook = hook!(ReActAgent::AROUND_TOOL_CALL, async move |agent, args, next| {
            let ReActAgentToolCallArgs { mut cx, call } = args;
            if cx.checked().is_none() {
                // `tool_call` was called directly.
                cx = cx.of_checked(&Arc::new(CheckedCall::new(
                    call.id.as_str().into(),
                    call.clone(),
                    cx.next_tool_call(),
                    None,
                )));
            }
            let run = AroundRun::of_tool(&hook, &cx, &call).map(Box::new);
            let note = run.as_deref().map(|run| run as &dyn NoteInside);
            let inner = InnerTool { next, cx: cx.clone(), note };
            let is_idempotent = agent.tool(&call.name).is_some_and(|tool| tool.is_idempotent());
            let spec = agent.core.specs.iter().find(|spec| spec.name == call.name);
            let call = ToolCall::new(agent, &cx, call, spec, is_idempotent);
            let ended = hook.hook.around_tool_call(call, NextTool::new(&inner)).await;
            if let Some(run) = &run {
                match &ended {
                    Err(ToolError::Denied { .. }) if !run.has_run() => run.refuse(),
                    ended => run.end(ended.as_ref().ok(), ended.is_err()),
                }
            }
            ended
        });
        let options = registration.options();
        target.register(ReActAgent::AROUND_TOOL_CALL, options, hook);
    }
}

struct InnerModel<'a> {
    next: Next<'a, ReActAgent, ReActAgentModelCallArgs>,
    cx: CallContext,
    note: Option<&'a dyn NoteInside>,
}

impl Inner<ChatRequest, ModelAnswer, AgentError> for InnerModel<'_> {
    fn run(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        if let Some(note) = self.note {
            note.passes_request(&request);
        }
        let inside = self.next.run(ReActAgentModelCallArgs { cx: self.cx.clone(), request });
        let Some(note) = self.note else { return inside };
        Box::pin(async move {
            let start = Instant::now();
            let ended = inside.await;
            note.got(None, ended.is_err(), start.elapsed());
            ended
        })
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}

struct InnerTool<'a> {
    next: Next<'a, ReActAgent, ReActAgentToolCallArgs>,
    cx: CallContext,
    note: Option<&'a dyn NoteInside>,
}

impl Inner<Arc<ToolUse>, ToolResult, ToolError> for InnerTool<'_> {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        if let Some(note) = self.note {
            note.passes_call(&call);
        }
        let inside = self.next.run(ReActAgentToolCallArgs { cx: self.cx.clone(), call });
        let Some(note) = self.note else { return inside };
        Box::pin(async move {
            let start = Instant::now();
            let ended = inside.await;
            note.got(ended.as_ref().ok(), ended.is_err(), start.elapsed());
            ended
        })
    }

    fn fail(&self, cause: BoxError) -> ToolError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}
