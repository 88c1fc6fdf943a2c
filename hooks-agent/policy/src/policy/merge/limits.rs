//! The hook that holds calls to the limits of a policy.

use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{EventKind, EventMask, Flow, PreActing, PreCall, PreReasoning};
use hooks_agent_core::hook::{AgentHookExt, AroundMask, NextTool, Shadowed, ToolCall, priority};
use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::options::Globs;
use hooks_agent_core::react::HookSet;
use hooks_agent_core::tool::ToolError;
use hooks_core::HookRole;

use crate::policy::error::Place;

/// The hook of the `[limits]` of files.
#[derive(Clone, Default)]
pub(crate) struct MadeLimits {
    pub(crate) set: HookSet,
    pub(crate) shadow: Option<Shadowed>,
}

impl MadeLimits {
    /// Makes the hook. `denied` are globs of tools.
    pub(crate) fn new(max_iters: Option<usize>, denied: Vec<String>, in_shadow: bool) -> Self {
        match LimitsHook::new(max_iters, denied) {
            None => Self::default(),
            Some(hook) if in_shadow => {
                let shadowed = hook.named("policy limits in shadow").in_shadow();
                Self { set: HookSet::of(shadowed.clone()), shadow: Some(shadowed) }
            }
            Some(hook) => Self { set: HookSet::of(hook), shadow: None },
        }
    }

    /// Returns the same hook, which stands at this place.
    pub(crate) fn at(&self, place: &Place) -> Self {
        Self { set: place.of_set(&self.set), shadow: self.shadow.clone() }
    }
}

/// Holds calls to the `[limits]` of a policy, also in sub-agents.
struct LimitsHook {
    max_iters: Option<usize>,
    denied: Option<Globs>,
}

impl LimitsHook {
    /// Creates the hook. `denied` are globs of tools.
    fn new(max_iters: Option<usize>, denied: Vec<String>) -> Option<Self> {
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

#[agent_hook(
    name = "policy limits",
    priority = priority::SECURITY,
    role = HookRole::Guards,
    inherit,
    always,
    events = self.events_of(),
    around = if self.denied.is_some() { AroundMask::TOOL_CALL } else { AroundMask::NONE }
)]
impl LimitsHook {
    fn pre_call(&self, event: &PreCall<'_>) {
        if let Some(most) = self.max_iters {
            event.context().limit_iters(most);
        }
    }

    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) {
        if event.tools().iter().any(|tool| self.denies(&tool.name)) {
            let allowed = event.tools().iter().filter(|tool| !self.denies(&tool.name));
            let allowed: Vec<_> = allowed.cloned().collect();
            event.set_tools(allowed);
        }
    }

    fn pre_acting(&self, event: &mut PreActing<'_>) -> Flow {
        let tool = &event.tool_use().name;
        if self.denies(tool) { event.refuse(reason(tool)) } else { Flow::Continue }
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

    fn events_of(&self) -> EventMask {
        let calls = self.max_iters.map(|_| EventKind::PreCall.into());
        let tools = [EventKind::PreReasoning, EventKind::PreActing];
        let tools = self.denied.as_ref().map(|_| EventMask::of(&tools));
        calls.unwrap_or(EventMask::NONE) | tools.unwrap_or(EventMask::NONE)
    }
}
