//! Parts that the tests of guests share: a source of fixed hooks, and events.

use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::react::{HookSet, HookSource};
use hooks_agent_guest::{Guard, GuestThread};
use hooks_agent_policy::command::{Input, Output, PermissionDecision};
use serde_json::Value;

/// The same hooks for every call.
#[derive(Clone)]
pub(crate) struct Fixed(HookSet);

impl Fixed {
    pub(crate) fn of(set: HookSet) -> Self {
        Self(set)
    }
}

impl HookSource for Fixed {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

/// A guard with one hook.
pub(crate) fn guard(hook: impl AgentHook) -> Guard {
    Guard::new(Fixed(HookSet::of(hook)))
}

/// An event of a session.
pub(crate) fn event(name: &str) -> Input {
    let mut input = Input::new(name);
    (input.session_id, input.cwd) = ("session".into(), "/project".into());
    input.prompt_id = Some("prompt".into());
    input
}

/// `PreToolUse` of a tool call.
pub(crate) fn pre_tool_use(id: &str, tool: &str, arguments: Value) -> Input {
    let mut input = event("PreToolUse");
    (input.tool_name, input.tool_input) = (Some(tool.into()), Some(arguments));
    input.tool_use_id = Some(id.into());
    input
}

/// `PostToolUse` of a tool call.
pub(crate) fn post_tool_use(tool: &str, response: Value) -> Input {
    let mut input = event("PostToolUse");
    (input.tool_name, input.tool_response) = (Some(tool.into()), Some(response));
    input.tool_use_id = Some("1".into());
    input
}

/// Decides on a thread without a past.
pub(crate) async fn decide(guard: &Guard, input: &Input) -> Output {
    guard.decide(input, &mut GuestThread::default()).await
}

/// The decision about a tool call, and its reason.
pub(crate) fn permission(output: &Output) -> Option<(PermissionDecision, String)> {
    let specific = output.hook_specific_output.as_ref()?;
    let reason = specific.permission_decision_reason.clone().unwrap_or_default();
    Some((specific.permission_decision?, reason))
}
