//! Which calls are asked about.

use std::time::Duration;

use hooks_agent_builtin::people::{Gate, GateError, HumanInTheLoop};
use hooks_agent_core::message::DecisionKind::{Approve, Reject};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Store};
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::human_in_the_loop::{Clerk, inputs, pay};

struct Trusted;

fn large() -> Gate {
    Gate::new().when(|call, cx| {
        cx.get::<Trusted>().is_none() && call.input["euros"].as_u64().is_none_or(|it| it > 100)
    })
}

#[tokio::test]
async fn a_predicate_chooses_by_the_call_and_its_context() {
    let tool = Calls::new("pay").answers("a").answers("b");
    let script = Script::new().calls([pay("1", 50)]).says("small").calls([pay("2", 500)]);
    let clerk = Clerk::new(&script, &[&tool], HumanInTheLoop::new().ask_with("pay", large()));
    assert_eq!(clerk.go().await.text(), "small");
    assert_eq!(clerk.go().await.reason, Some(GenerateReason::PermissionAsking));

    let script = Script::new().calls([pay("2", 500)]).says("trusted");
    let clerk = Clerk::new(&script, &[&tool], HumanInTheLoop::new().ask_with("pay", large()));
    let options = CallOptions::new().value(Trusted);
    assert_eq!(clerk.agent.call_with(options, "Hello").await.unwrap().text(), "trusted");
}

#[tokio::test]
async fn a_predicate_that_panics_asks() {
    let gate = Gate::new().when(|call, _| call.input["euros"].as_str().unwrap().is_empty());
    let hook = HumanInTheLoop::new().ask_with("pay", gate);
    let tool = Calls::new("pay").answers("paid");
    let clerk = Clerk::new(&Script::new().calls([pay("1", 5)]).says("done"), &[&tool], hook);
    assert_eq!(clerk.go().await.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!(clerk.decide([("1", Decision::Approve)]).await.text(), "done");
}

#[test]
fn a_gate_allows_at_least_one_decision() {
    assert_eq!(Gate::new().allow([]).unwrap_err(), GateError::NoDecision);
}

#[tokio::test]
async fn a_decision_that_is_allowed_twice_is_shown_once() {
    let gate = Gate::new().allow([Reject, Approve, Reject]).unwrap();
    let hook = HumanInTheLoop::new().ask_with("pay", gate);
    let clerk = Clerk::new(&Script::new().calls([pay("1", 5)]), &[&Calls::new("pay")], hook);
    clerk.go().await;
    assert_eq!(clerk.waiting().await[0].allowed, [Reject, Approve]);
}

#[tokio::test]
async fn every_tool_is_asked_about_except_those_with_a_gate_that_says_no() {
    let hook = HumanInTheLoop::new()
        .ask_every_tool(Gate::new())
        .ask_with("read", Gate::new().when(|_, _| false));
    let (read, pays) = (Calls::new("read").answers("text"), Calls::new("pay"));
    let script = Script::new().calls([ToolUse::new("0", "read", json!({}))]).calls([pay("1", 5)]);
    let clerk = Clerk::new(&script, &[&read, &pays], hook);
    assert_eq!(clerk.go().await.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!((inputs(&read).len(), clerk.waiting().await.len()), (1, 1));
}

#[tokio::test]
async fn a_call_whose_arguments_are_no_json_is_not_asked_about_and_does_not_run() {
    let broken = ToolUse::invalid("1", "pay", "{oops");
    let tool = Calls::new("pay");
    let script = Script::new().calls([broken]).says("sorry");
    let clerk = Clerk::new(&script, &[&tool], HumanInTheLoop::new().ask("pay"));
    assert_eq!(clerk.go().await.text(), "sorry");
    assert!(clerk.results()[0].is_error && inputs(&tool).is_empty());
    // The model reads what is wrong with the call.
    let output = clerk.results()[0].output.as_str().to_owned();
    assert!(output.contains("{oops"), "{output}");
}

#[tokio::test]
async fn a_question_that_expires_is_refused_for_the_model() {
    let gate = Gate::new().expires_after(Duration::ZERO);
    let tool = Calls::new("pay");
    let script = Script::new().calls([pay("1", 5)]).says("too late");
    let clerk = Clerk::new(&script, &[&tool], HumanInTheLoop::new().ask_with("pay", gate));
    clerk.go().await;
    assert!(clerk.try_decide([("1", Decision::Approve)]).await.is_err());
    assert_eq!(clerk.store.expire().await.unwrap(), 1);
    assert_eq!(clerk.agent.resume(CallOptions::new()).await.unwrap().text(), "too late");
    assert_eq!(
        clerk.results()[0].output,
        "User rejected the tool call for `pay` with reason: no decision in time"
    );
    assert!(inputs(&tool).is_empty());
}

#[tokio::test]
async fn tools_of_sub_agents_are_guarded_too() {
    let tool = Calls::new("pay").answers("paid");
    let script = Script::new().calls([pay("1", 5)]).says("sub done");
    let payer = ReActAgent::builder("payer").model(script).tool(tool.clone()).build().unwrap();
    let task = ToolUse::new("a", "payer", json!({ "task": "pay" }));
    let clerk = Clerk::with(&Script::new().calls([task]).says("done"), &[], |builder| {
        builder.tool(payer.to_tool("Pays")).hook(HumanInTheLoop::new().ask("pay"))
    });
    assert_eq!(clerk.go().await.reason, Some(GenerateReason::PermissionAsking));
    let waiting = clerk.waiting().await;
    assert_eq!((&*waiting[0].call_id, &*waiting[0].agents), ("a/1", &["payer".to_owned()][..]));
    assert_eq!(clerk.decide([("a/1", Decision::Approve)]).await.text(), "done");
    tool.assert_called_with([json!({ "euros": 5 })]);
}
