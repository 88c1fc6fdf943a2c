//! Failures of hooks that handle errors.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::event::{ErrorEvent, Settled};
use hooks_agent_core::hook::{AgentHookExt, on};
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::react::ReActAgent;
use hooks_core::HookResult;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{failing_tool, go, script, uses};
use serde_json::json;

#[tokio::test]
async fn failures_in_a_sub_agent_are_seen_when_its_own_call_is_settled() {
    let told = Arc::new(Records::new());
    let noted = told.clone();
    let fails = on(|_: &mut ErrorEvent<'_>| -> HookResult { Err("no recovery".into()) });
    let settled = on(move |event: &mut Settled<'_>| {
        let failures = event.context().hook_failures();
        let failures: Vec<_> = failures.iter().map(ToString::to_string).collect();
        noted.push(format!("{}: {}", event.agent().name(), failures.join(", ")));
    });
    let broken = |id: &str| uses([ToolUse::new(id, "broken", json!({}))]);
    let (model, _) = script([broken("1"), broken("2"), "sorry".into()]);
    let sub = ReActAgent::builder("sub").model(model).tool(failing_tool("broken")).build().unwrap();
    let task = ToolUse::new("1", "sub", json!({ "task": "go" }));
    let (model, _) = script([uses([task]), "done".into()]);
    let boss = ReActAgent::builder("boss").model(model).tool(sub.to_tool("Fails"));
    let boss = boss.hook(fails.inherited(true)).hook(settled.inherited(true)).build().unwrap();
    assert_eq!(boss.call(go()).await.unwrap().text(), "done");
    assert_eq!(told.take(), ["sub: no recovery, no recovery", "boss: "]);
}

#[tokio::test]
async fn a_call_keeps_the_first_failures_and_not_all() {
    let kept = Arc::new(Records::new());
    let noted = kept.clone();
    let fails = on(|_: &mut ErrorEvent<'_>| -> HookResult { Err("no recovery".into()) });
    let settled = on(move |event: &Settled<'_>| noted.push(event.context().hook_failures().len()));
    let calls = (0..100).map(|id| ToolUse::new(id.to_string(), "broken", json!({})));
    let (model, _) = script([uses(calls), "sorry".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(failing_tool("broken"));
    let agent = agent.hook(fails).hook(settled).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(kept.take(), [64]);
}
