//! The hook that holds calls to the limits of a policy.

use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, AroundMask, NextTool, ToolCall, priority};
use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::tool::ToolError;
use hooks_core::{HookResult, HookRole};

use crate::policy::file::Globs;

/// Holds calls to the `[limits]` of a policy, also in sub-agents.
pub(crate) struct LimitsHook {
    max_iters: Option<usize>,
    denied: Option<Globs>,
}

impl LimitsHook {
    /// Creates the hook. `denied` are globs of tools.
    pub(crate) fn new(max_iters: Option<usize>, denied: Vec<String>) -> Option<Self> {
        // These globs were checked in their files. If they are none together, every tool is denied.
        let denied =
            (!denied.is_empty()).then(|| Globs::new(denied, |_, _| {}).unwrap_or_else(Globs::all));
        (max_iters.is_some() || denied.is_some()).then_some(Self { max_iters, denied })
    }

    fn denies(&self, tool: &str) -> bool {
        self.denied.as_ref().is_some_and(|globs| globs.is_match(tool))
    }
}

fn reason(tool: &str) -> String {
    format!("the policy denies the tool `{tool}`")
}

impl AgentHook for LimitsHook {
    fn name(&self) -> String {
        "policy limits".to_owned()
    }

    fn priority(&self) -> i32 {
        priority::SECURITY
    }

    fn events(&self) -> EventMask {
        let calls = self.max_iters.map(|_| EventKind::PreCall.into());
        let tools = [EventKind::PreReasoning, EventKind::PreActing];
        let tools = self.denied.as_ref().map(|_| EventMask::of(&tools));
        calls.unwrap_or(EventMask::NONE) | tools.unwrap_or(EventMask::NONE)
    }

    fn sync_events(&self) -> EventMask {
        self.events()
    }

    fn around(&self) -> AroundMask {
        match self.denied {
            Some(_) => AroundMask::TOOL_CALL,
            None => AroundMask::NONE,
        }
    }

    fn inherit(&self) -> bool {
        true
    }

    fn always(&self) -> bool {
        true
    }

    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Guards)
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        match event {
            HookEvent::PreCall(event) => {
                if let Some(most) = self.max_iters {
                    event.context().limit_iters(most);
                }
            }
            HookEvent::PreReasoning(event)
                if event.tools().iter().any(|tool| self.denies(&tool.name)) =>
            {
                let allowed = event.tools().iter().filter(|tool| !self.denies(&tool.name));
                let allowed: Vec<_> = allowed.cloned().collect();
                event.set_tools(allowed);
            }
            HookEvent::PreActing(event) => {
                let tool = &event.tool_use().name;
                if self.denies(tool) {
                    return Ok(event.refuse(reason(tool)));
                }
            }
            _ => {}
        }
        Ok(Flow::Continue)
    }

    /// Refuses a tool call that a hook further in turned into one of a denied tool.
    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let denied = self.denied.clone();
        let check = move |running: &ToolUse| match &denied {
            Some(globs) if globs.is_match(&running.name) => Err(reason(&running.name)),
            _ => Ok(()),
        };
        next.run_checked(call.into_tool_use(), check).await
    }
}
