//! Events of sub-agents: they have the hooks of their agent that go on into sub-agents, and their own.

use hooks_agent_builtin::limit::ToolCallLimit;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::{AgentHookExt, on};
use hooks_agent_core::react::{HookSet, HookSource};
use hooks_agent_guest::{Guard, GuestThread};
use hooks_agent_policy::command::Output;
use serde_json::json;

use crate::program::guarded;
use crate::sources::{guard, permission, pre_tool_use};

/// Hooks by the name of an agent.
struct Named(Vec<(&'static str, HookSet)>);

impl HookSource for Named {
    fn hooks(&self, cx: &CallContext) -> HookSet {
        let meant = self.0.iter().filter(|(name, _)| *name == cx.agent_name());
        HookSet::join(meant.map(|(_, set)| set))
    }
}

fn refuses(tool: &'static str) -> impl hooks_agent_core::hook::AgentHook {
    let refuse = on(move |event: &mut PreActing<'_>| {
        if event.tool_use().name == tool {
            event.refuse(tool)
        } else {
            hooks_agent_core::prelude::Flow::Continue
        }
    });
    refuse.named(tool)
}

#[tokio::test]
async fn a_sub_agent_has_the_hooks_that_its_agent_hands_on_and_its_own() {
    let guard = Guard::new(Named(vec![
        ("coding-agent", HookSet::of(refuses("handed").inherited(true))),
        ("coding-agent", HookSet::of(refuses("kept").inherited(false))),
        ("Explore", HookSet::of(refuses("own").inherited(false))),
    ]));
    for (agent, tool, is_refused) in [
        (Some("Explore"), "handed", true),
        (Some("Explore"), "own", true),
        (Some("Explore"), "kept", false),
        (Some("Plan"), "handed", true),
        (Some("Plan"), "own", false),
        (None, "kept", true),
        (None, "handed", true),
        (None, "own", false),
    ] {
        let mut input = pre_tool_use("1", tool, json!({}));
        input.agent_type = agent.map(str::to_owned);
        let output = guard.decide(&input, &mut GuestThread::default()).await;
        assert_eq!(permission(&output).is_some(), is_refused, "{agent:?} {tool}");
    }
}

#[tokio::test]
async fn a_hook_of_all_agents_runs_once_in_a_sub_agent() {
    let guard = guard(ToolCallLimit::all().thread(2).build().unwrap());
    let mut thread = GuestThread::default();
    let mut passed = Vec::new();
    for id in ["1", "2", "3"] {
        let mut input = pre_tool_use(id, "Bash", json!({}));
        input.agent_type = Some("Explore".into());
        passed.push(guard.decide(&input, &mut thread).await == Output::default());
    }
    assert_eq!(passed, [true, true, false]);
}

#[test]
fn a_policy_for_the_agent_holds_in_its_sub_agents() {
    let policy = "version = 1\n[[hook]]\nuse = \"human_in_the_loop\"\n\
                  agents = [\"coding-agent\"]\nwith = { tools = [\"Bash\"] }\n";
    let event = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {}, "agent_type": "Explore" });
    let output = guarded(policy, &event.to_string());
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"ask\""));

    let limit = "version = 1\n[[hook]]\nuse = \"budget\"\nagents = [\"coding-agent\"]\n\
                 with = { run_tokens = 5 }\n";
    let output = guarded(limit, &event.to_string());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"deny\""), "{stderr}");
    assert!(stderr.contains("cannot hold `budget`"), "{stderr}");
}

#[test]
fn pins_that_a_guard_cannot_check_are_refused() {
    let pins = "version = 1\n[[hook]]\nuse = \"mcp_pins\"\nwith = { file = \"no-pins.json\" }\n";
    let event = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
        "tool_name": "mcp__files__read", "tool_input": {} });
    let output = guarded(pins, &event.to_string());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"deny\""), "{stderr}");
    assert!(stderr.contains("cannot hold `mcp_pins`"), "{stderr}");
}
