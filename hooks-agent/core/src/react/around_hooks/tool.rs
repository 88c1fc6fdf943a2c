//! Registers event hooks around the calls of tools.

use std::any::Any;
use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::CallContext;
use crate::call::tool::CheckedCall;
use crate::hook::{
    AroundMask, AroundRun, DynAgentHook, Inner, Installed, NextTool, NoteInside, Registration,
    Target, ToolCall, level_of,
};
use crate::message::{ToolResult, ToolUse};
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::react::around_hooks::noted::noted;
use crate::react::methods::ReActAgentToolCallArgs;
use crate::tool::ToolError;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
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
        let asks_as = hook.info().asks_as.clone();
        let mut inner = InnerTool { next, cx: cx.clone(), own: None, note, asks_as };
        let tool = agent.tool(&call.name);
        let runs_agent = tool.is_some_and(|tool| (&**tool as &dyn Any).is::<AgentTool>());
        let spec = agent.core.specs.iter().find(|spec| spec.name == call.name);
        inner.own = hook.enter(agent, &inner.cx).map_err(|error| inner.fail(error))?;
        let call = ToolCall::new(agent, inner.context(), call, spec, tool.map(|tool| &**tool));
        let call = call.of_agent(runs_agent).of_hook(&hook.info().asks_as);
        let ended = hook.hook.around_tool_call(call, NextTool::new(&inner)).await;
        if let Some(run) = &run {
            match &ended {
                Err(ToolError::Denied { .. } | ToolError::Quota(_)) if !run.has_run() => {
                    run.refuse();
                }
                ended => run.end(ended.as_ref().ok(), ended.is_err()),
            }
        }
        ended
    });
    let options = registration.options_around(AroundMask::TOOL_CALL);
    target.register(ReActAgent::AROUND_TOOL_CALL, options, hook);
}

struct InnerTool<'a> {
    next: Next<'a, ReActAgent, ReActAgentToolCallArgs>,
    cx: CallContext,
    /// The context of the hook, if another agent has the hook.
    own: Option<CallContext>,
    note: Option<&'a dyn NoteInside>,
    asks_as: Arc<str>,
}

impl Inner<Arc<ToolUse>, ToolResult, ToolError> for InnerTool<'_> {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        if let Some(note) = self.note {
            note.passes_call(&call);
        }
        let inside = self.next.run(ReActAgentToolCallArgs { cx: self.cx.clone(), call });
        noted(self.note, inside, |result| Some(result))
    }

    fn fail(&self, cause: BoxError) -> ToolError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        self.own.as_ref().unwrap_or(&self.cx)
    }

    fn asks_as(&self) -> Option<&str> {
        Some(&self.asks_as)
    }
}
