//! `ToolApproval`: what runs is what was approved, and who cannot decide denies.

mod changes;
mod threads;

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use futures::{FutureExt, poll};
use hooks_agent_builtin::guard::{Decision, ToolApproval};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

type Count = Arc<AtomicUsize>;

fn pay(euros: u64) -> ToolUse {
    ToolUse::new("1", "pay", json!({ "euros": euros }))
}

fn payer(calls: impl IntoIterator<Item = ToolUse>, tool: &Calls) -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(Script::new().calls(calls).says("done")).tool(tool.clone())
}

/// An approval of `pay` that counts how often it decides so.
fn always(decision: Decision) -> (ToolApproval, Count) {
    let count = Count::default();
    let asked = count.clone();
    let hook = ToolApproval::new(["pay"], move |_| {
        asked.fetch_add(1, Ordering::Relaxed);
        let decision = decision.clone();
        async { decision }
    });
    (hook, count)
}

fn results(agent: &ReActAgent) -> Vec<ToolResult> {
    let history = agent.threads().memory("default").unwrap().messages();
    history.iter().flat_map(Msg::tool_results).cloned().collect()
}

/// The result of a payment of 100 with this hook, and the inputs of the tool.
async fn paid(hook: impl AgentHook) -> (ToolResult, Vec<Value>) {
    let tool = Calls::new("pay").answers("paid");
    let agent = payer([pay(100)], &tool).hook(hook).build().unwrap();
    agent.call("go").await.unwrap();
    (results(&agent).remove(0), tool.inputs())
}

#[test]
fn an_allowed_call_runs_as_it_is() {
    let (hook, asked) = always(Decision::Allow);
    let (result, inputs) = block_on(paid(hook));
    assert_eq!((result.output.as_str(), result.ran), ("paid", None));
    assert_eq!(inputs, [json!({ "euros": 100 })]);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_denied_call_gets_an_error_with_the_reason() {
    let (result, inputs) = block_on(paid(always(Decision::deny("too much")).0));
    assert_eq!((result.is_error, inputs.len()), (true, 0));
    assert_eq!(result.output, "the call of `pay` is not approved: too much");
    let (result, _) = block_on(paid(always(Decision::deny("")).0));
    assert_eq!(result.output, "the call of `pay` is not approved");
}

#[test]
fn an_edited_call_runs_as_edited_and_the_message_of_the_model_stays() {
    let tool = Calls::new("pay").answers("paid");
    let (hook, _) = always(Decision::Edit(json!({ "euros": 5 })));
    let agent = payer([pay(100)], &tool).hook(hook).build().unwrap();
    block_on(agent.call("go")).unwrap();
    tool.assert_called_with([json!({ "euros": 5 })]);
    let history = agent.threads().memory("default").unwrap().messages();
    assert_eq!(history[1].tool_uses().next().unwrap().input, json!({ "euros": 100 }));
    assert_eq!(results(&agent)[0].ran.as_ref().unwrap().input, json!({ "euros": 5 }));
}

#[test]
fn an_edit_that_is_no_object_denies() {
    for edited in [json!(null), json!([5]), json!("5")] {
        let (result, inputs) = block_on(paid(always(Decision::Edit(edited)).0));
        assert_eq!((result.is_error, inputs.len()), (true, 0));
        assert!(result.output.as_str().ends_with("the edited arguments are no JSON object"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_decider_that_fails_panics_or_takes_too_long_denies() {
    let pay = ["pay"];
    let fails = ToolApproval::new(pay, async |_| Err::<Decision, _>("no route to 10.0.0.7"));
    let panics = ToolApproval::new(pay, async |_| -> Decision { panic!("a decider that panics") });
    let early = ToolApproval::new(pay, |_| -> std::future::Ready<Decision> { panic!("early") });
    let slow = ToolApproval::new(pay, async |_| pending::<Decision>().await);
    let slow = slow.timeout(Duration::from_mins(1));
    let expected = ["the decider failed", "the decider panicked", "the decider panicked"];
    let mut found = Vec::new();
    for hook in [fails, panics, early, slow] {
        let (result, inputs) = paid(hook).await;
        assert_eq!((result.is_error, inputs.len()), (true, 0));
        found.push(result.output.as_str().rsplit(": ").next().unwrap().to_owned());
    }
    assert_eq!(found[..3], expected);
    assert_eq!(found[3], "the decider did not decide in time");
}

#[test]
fn a_timeout_without_a_runtime_denies() {
    let (hook, _) = always(Decision::Allow);
    let (result, inputs) = block_on(paid(hook.timeout(Duration::from_secs(1))));
    assert_eq!((result.is_error, inputs.len()), (true, 0));
}

#[tokio::test]
async fn an_interrupt_ends_the_call_while_the_decider_runs() {
    let (tool, count) = (Calls::new("pay").answers("paid"), Count::default());
    let asked = count.clone();
    let hook = ToolApproval::new(["pay"], move |_| {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        async move { if number < 2 { pending().await } else { Decision::Allow } }
    });
    let script = Script::new().calls([pay(1)]).calls([pay(2)]).calls([pay(3)]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool.clone());
    let agent = agent.hook(hook.one_at_a_time()).build().unwrap();

    let interrupt = Interrupt::new();
    let options = CallOptions::new().interrupt(interrupt.clone());
    let mut call = Box::pin(agent.call_with(options, "go"));
    assert!(poll!(&mut call).is_pending() && count.load(Ordering::Relaxed) == 1);
    interrupt.interrupt();
    assert_eq!(call.await.unwrap().reason, Some(GenerateReason::Interrupted));

    // The same of a call that is dropped.
    let mut call = Box::pin(agent.call("go"));
    assert!(poll!(&mut call).is_pending() && count.load(Ordering::Relaxed) == 2);
    drop(call);

    // No turn is left taken.
    agent.call("go").await.unwrap();
    tool.assert_called_with([json!({ "euros": 3 })]);
    assert_eq!(results(&agent).len(), 3);
}

#[tokio::test]
async fn parallel_calls_ask_at_once_or_one_after_the_other() {
    for (one_at_a_time, expected) in [(false, 64), (true, 1)] {
        let (asking, most) = (Count::default(), Count::default());
        let high = most.clone();
        let hook = ToolApproval::new(["pay"], move |_| {
            let (asking, most) = (asking.clone(), high.clone());
            async move {
                most.fetch_max(asking.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                asking.fetch_sub(1, Ordering::SeqCst);
                Decision::Allow
            }
        });
        let hook = if one_at_a_time { hook.one_at_a_time() } else { hook };
        let tool = (0..64).fold(Calls::new("pay"), |tool, _| tool.answers("paid"));
        let calls = (0..64).map(|n| ToolUse::new(n.to_string(), "pay", json!({ "euros": n })));
        let agent = payer(calls, &tool).parallel_tools(true).hook(hook).build().unwrap();
        agent.call("go").await.unwrap();
        assert_eq!((most.load(Ordering::SeqCst), tool.inputs().len()), (expected, 64));
        assert!(results(&agent).iter().all(|result| result.output == "paid"));
    }
}

#[test]
fn a_confirmed_call_that_is_resumed_runs_as_approved_without_a_second_question() {
    let inputs = Arc::new(Mutex::new(Vec::new()));
    let noted = inputs.clone();
    let tool = FunctionTool::new("pay", "Pays.", move |input: Value| {
        noted.lock().unwrap().push(input);
        async { "paid" }
    });
    let (hook, asked) = always(Decision::Edit(json!({ "euros": 5 })));
    let model = Script::new().calls([pay(100)]).says("done");
    let agent = ReActAgent::builder("bot").model(model).tool(tool.permission(|_| Permission::Ask));
    let agent = agent.hook(hook).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert_eq!(reply.pending()[0].call.input, json!({ "euros": 5 }));
    block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(*inputs.lock().unwrap(), [json!({ "euros": 5 })]);
}

#[test]
fn another_process_asks_again_about_a_confirmed_call() {
    let ask = || {
        let tool = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
        tool.permission(|_| Permission::Ask)
    };
    let (first, _) = always(Decision::Allow);
    let model = Script::new().calls([pay(100)]);
    let agent = ReActAgent::builder("bot").model(model).tool(ask()).hook(first).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let (second, asked) = always(Decision::deny("not any more"));
    let model = Script::new().says("done");
    let later = ReActAgent::builder("bot").model(model).tool(ask()).hook(second).build().unwrap();
    later
        .threads()
        .restore("default", agent.threads().memory("default").unwrap().messages())
        .unwrap();
    block_on(later.resume(CallOptions::new().confirm("1"))).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert!(results(&later)[0].output.as_str().ends_with("not any more"));
}

#[test]
fn an_approval_is_for_one_call() {
    // The model uses the id again.
    let (hook, asked) = always(Decision::Allow);
    let tool = Calls::new("pay").answers("paid").answers("paid");
    let script = Script::new().calls([pay(1)]).calls([pay(1)]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[test]
fn clones_of_the_hook_ask_once() {
    let (hook, asked) = always(Decision::Edit(json!({ "euros": 5 })));
    let tool = Calls::new("pay").answers("paid");
    let agent = payer([pay(100)], &tool).hook(hook.clone()).hook(hook.named("second"));
    block_on(agent.build().unwrap().call("go")).unwrap();
    tool.assert_called_with([json!({ "euros": 5 })]);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_predicate_chooses_calls_and_one_that_panics_chooses_all() {
    let deny = async |_| Decision::deny("no");
    let large = ToolApproval::when(|call| call.input["euros"].as_u64() > Some(50), deny);
    assert!(block_on(paid(large)).0.is_error);
    let larger = ToolApproval::when(|call| call.input["euros"].as_u64() > Some(100), deny);
    assert!(!block_on(paid(larger)).0.is_error);
    let panics = ToolApproval::when(|_| panic!("a predicate that panics"), deny);
    assert!(block_on(paid(panics)).0.is_error);
}

#[test]
fn a_call_with_invalid_input_is_not_asked_about() {
    let (hook, asked) = always(Decision::Allow);
    let tool = Calls::new("pay");
    let agent = payer([ToolUse::invalid("1", "pay", "{oops")], &tool).hook(hook).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert!(results(&agent)[0].output.as_str().contains("are not a JSON object"));
}

#[test]
fn the_tools_of_a_sub_agent_are_guarded_and_resumed() {
    let (hook, asked) = always(Decision::Allow);
    let count = Count::default();
    let counted = count.clone();
    let helper_asked = ToolApproval::new(["helper"], move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Decision::Allow }
    });
    let tool = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let inner = Script::new().calls([pay(1)]).says("paid it");
    let helper = ReActAgent::builder("helper").model(inner);
    let helper = helper.tool(tool.permission(|_| Permission::Ask)).build().unwrap();
    let script = Script::new().calls([ToolUse::new("h", "helper", json!({ "task": "pay" }))]);
    let agent = ReActAgent::builder("bot").model(script.says("done"));
    let agent = agent.tool(helper.to_tool("Helps")).hook(hook).hook(helper_asked.named("helper"));
    let agent = agent.build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    let id = reply.pending()[0].id.clone();
    assert_eq!(id, "h/1");
    let reply = block_on(agent.resume(CallOptions::new().confirm(id))).unwrap();
    assert_eq!(reply.text(), "done");
    assert_eq!(results(&agent)[0].output, "paid it");
    assert_eq!((asked.load(Ordering::Relaxed), count.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn a_decider_whose_channel_is_dropped_denies() {
    let hook = ToolApproval::new(["pay"], async |_| {
        let (sender, receiver) = tokio::sync::oneshot::channel::<Decision>();
        drop(sender);
        receiver.await
    });
    let (result, inputs) = paid(hook).now_or_never().unwrap();
    assert_eq!((result.is_error, inputs.len()), (true, 0));
}
