//! Rules in sub-agents, and about them.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::{Requires, Then, ToolRule};
use serde_json::json;

use crate::{calls, rules, tool};

/// An agent `boss` with the sub-agent `helper`, which calls `pay` once.
async fn run(rule: ToolRule) -> usize {
    let pay = Calls::new("pay").answers("paid");
    let helper = ReActAgent::builder("helper").model(calls([("pay", json!({}))]));
    let helper = helper.tool(pay.clone()).build().unwrap();
    let script = calls([("helper", json!({ "task": "Pay" }))]);
    let boss = ReActAgent::builder("boss").model(script).tool(helper.to_tool("Helps."));
    let boss = boss.hook(rules([rule]).build().unwrap()).build().unwrap();
    boss.call("Go").await.unwrap();
    pay.inputs().len()
}

#[tokio::test]
async fn a_rule_of_an_agent_holds_in_its_sub_agents() {
    let deny = || ToolRule::new("none", Then::Deny).tools(["pay"]);
    assert_eq!(run(deny()).await, 0);
    assert_eq!(run(deny().agents(["boss"])).await, 0);
    assert_eq!(run(deny().agents(["helper"])).await, 0);
    assert_eq!(run(deny().agents(["other"])).await, 1);
    assert_eq!(run(deny().acting(["helper"])).await, 0);
    assert_eq!(run(deny().acting(["boss"])).await, 1);
    assert_eq!(
        run(deny().when("agent.path == ['boss', 'helper'] && agent.name == 'helper'")).await,
        0
    );
    assert_eq!(run(deny().when("call.depth == 0")).await, 1);
}

#[tokio::test]
async fn what_runs_in_a_sub_agent_counts_for_the_thread() {
    let helper = ReActAgent::builder("helper").model(calls([("test", json!({}))]));
    let helper = helper.tool(tool("test")).build().unwrap();
    let script = calls([("helper", json!({ "task": "Test" })), ("deploy", json!({}))]);
    let deploy = tool("deploy");
    let rule =
        ToolRule::new("tests first", Then::Deny).tools(["deploy"]).requires(Requires::new("test"));
    let boss = ReActAgent::builder("boss")
        .model(script)
        .tool(helper.to_tool("Helps."))
        .tool(deploy.clone());
    let boss = boss.hook(rules([rule]).build().unwrap()).build().unwrap();
    boss.call("Go").await.unwrap();
    assert_eq!(deploy.inputs().len(), 1);
}

#[tokio::test]
async fn a_round_is_counted() {
    let late = ToolRule::new("late", Then::Deny).when("call.round > 2");
    let again = tool("again");
    let script = calls((0..4).map(|_| ("again", json!({}))));
    let agent = ReActAgent::builder("bot").model(script).tool(again.clone());
    let agent = agent.hook(rules([late]).build().unwrap()).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(again.inputs().len(), 2);
}

#[tokio::test]
async fn eight_calls_at_once_are_judged_each() {
    let large = ToolRule::new("large", Then::Deny).when("args.n % 2 == 0");
    let pay = Calls::new("pay");
    let batch = (0..8).map(|n| ToolUse::new(n.to_string(), "pay", json!({ "n": n })));
    let model = Script::new().calls(batch).says("end");
    let agent = ReActAgent::builder("bot").model(model).tool(pay.clone()).parallel_tools(true);
    let agent = agent.hook(rules([large]).build().unwrap()).build().unwrap();
    agent.call("Go").await.unwrap();
    let mut ran: Vec<_> = pay.inputs().iter().map(|it| it["n"].as_u64().unwrap()).collect();
    ran.sort_unstable();
    assert_eq!(ran, [1, 3, 5, 7]);
}
