//! Registers event hooks around the calls of the model and of tools.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::{CallContext, CheckedCall};
use crate::error::AgentError;
use crate::hook::{
    AgentHook, AroundMask, Inner, ModelCall, NextModel, NextTool, Registration, Target, ToolCall,
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
        let hook = hook.clone();
        let hook = hook!(ReActAgent::AROUND_MODEL_CALL, async move |agent, args, next| {
            let ReActAgentModelCallArgs { cx, request } = args;
            let inner = InnerModel { next, cx: cx.clone() };
            let call = ModelCall::new(agent, &cx, &agent.core.model_name, request);
            hook.around_model_call(call, NextModel::new(&inner)).await
        });
        let options = registration.options();
        target.register(ReActAgent::AROUND_MODEL_CALL, options, hook);
    }
    if registration.around.contains(AroundMask::TOOL_CALL) {
        let hook = hook.clone();
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
            let inner = InnerTool { next, cx: cx.clone() };
            let is_idempotent = agent.tool(&call.name).is_some_and(|tool| tool.is_idempotent());
            let spec = agent.core.specs.iter().find(|spec| spec.name == call.name);
            let call = ToolCall::new(agent, &cx, call, spec, is_idempotent);
            hook.around_tool_call(call, NextTool::new(&inner)).await
        });
        let options = registration.options();
        target.register(ReActAgent::AROUND_TOOL_CALL, options, hook);
    }
}

struct InnerModel<'a> {
    next: Next<'a, ReActAgent, ReActAgentModelCallArgs>,
    cx: CallContext,
}

impl Inner<ChatRequest, ModelAnswer, AgentError> for InnerModel<'_> {
    fn run(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        self.next.run(ReActAgentModelCallArgs { cx: self.cx.clone(), request })
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
}

impl Inner<Arc<ToolUse>, ToolResult, ToolError> for InnerTool<'_> {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        self.next.run(ReActAgentToolCallArgs { cx: self.cx.clone(), call })
    }

    fn fail(&self, cause: BoxError) -> ToolError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}
