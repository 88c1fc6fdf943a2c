//! Quotas of agents on a store: what is reserved with a step, and what is not.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Durability, Store, Window};
use hooks_agent_rules::{Per, Quota, Quotas};
use serde_json::json;

use crate::agents::cut_off_calls::crash::crash;
use crate::agents::gate::Gate;
use crate::agents::stores::{Paid, Place, pay, pay_tool, payer, places};
use crate::kills::LEASE;
use crate::open::{address, open};

const HOUR: Duration = Duration::from_hours(1);

fn quotas(most: u64) -> Quotas {
    let payments = Quota::tool_calls("payments", most).tools(["pay"]).within(HOUR);
    Quotas::builder().quota(payments).build().unwrap()
}

async fn used(store: &dyn Store) -> u64 {
    let uses = store.quota_uses("payments", &Window::Sliding(HOUR)).await.unwrap();
    uses.iter().map(|it| it.amount).sum()
}

async fn on_each_place(durability: Durability) {
    for place in places().await {
        let paid = Paid::default();
        let agent = async |name: &str| {
            let model = payer([pay("1", 5), pay("2", 6)]);
            let agent = ReActAgent::builder(name).model(model).tool(pay_tool(&paid));
            let agent = agent.store(place.open().await).durability(durability).hook(quotas(3));
            agent.build().unwrap()
        };
        let (first, second) = (agent("one").await, agent("two").await);
        assert_eq!(first.call("Pay").await.unwrap().text(), "paid 5; paid 6");
        let text = second.call("Pay").await.unwrap().text();
        assert!(text.starts_with("paid 5; "), "{text}");
        assert!(text.contains("the quota \"payments\" of 3 in 3600s is used up until"), "{text}");
        assert_eq!(paid.take(), [5, 6, 5]);
        // What was refused is an answered tool call, and the thread goes on.
        assert_eq!(second.call("Hello").await.unwrap().text(), "heard: Hello");
        assert_eq!(used(&*place.open().await).await, 3);
    }
}

#[tokio::test]
async fn agents_of_one_store_share_a_quota() {
    on_each_place(Durability::Step).await;
}

#[tokio::test]
async fn calls_that_are_written_at_the_end_reserve_before_the_tool() {
    on_each_place(Durability::Call).await;
}

/// An agent whose sub-agent, with a store of its own or of none, pays.
async fn with_sub_agent(place: &Place, sub_has_store: bool) {
    let paid = Paid::default();
    let sub = ReActAgent::builder("sub").model(payer([pay("1", 5), pay("2", 6)]));
    let mut sub = sub.tool(pay_tool(&paid));
    if sub_has_store {
        sub = sub.store(place.open().await);
    }
    let sub = sub.build().unwrap();
    let model = payer([ToolUse::new("s", "sub", json!({ "task": "Pay" }))]);
    let agent = ReActAgent::builder("main").model(model).tool(sub.to_tool("Pays."));
    let agent = agent.store(place.open().await).hook(quotas(3)).build().unwrap();
    agent.call("Pay").await.unwrap();
    let text = agent.call("Pay").await.unwrap().text();
    assert!(text.contains("is used up"), "{text}");
    assert_eq!(paid.take(), [5, 6, 5]);
    assert_eq!(used(&*place.open().await).await, 3);
}

#[tokio::test]
async fn a_sub_agent_counts_in_the_store_of_its_caller() {
    for place in places().await {
        with_sub_agent(&place, false).await;
    }
    for place in places().await {
        with_sub_agent(&place, true).await;
    }
}

/// An agent whose tool waits, and may start again.
fn waiting(store: impl Store, gate: &Gate, most: u64) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "wait", json!({})).into(),
        }
    });
    let waits = Quota::tool_calls("payments", most).per(Per::Tool).within(HOUR);
    let agent = ReActAgent::builder("clerk").model(model).tool(gate.tool("wait").idempotent());
    let agent = agent.hook(Quotas::builder().quota(waits).build().unwrap());
    agent.store(store).build().unwrap()
}

#[tokio::test]
async fn a_tool_that_starts_again_after_a_crash_is_counted_once_though_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let at = address.clone();
    crash(async move |gate| waiting(open(&at, LEASE).await, gate, 1), "Go").await;
    let store = open(&address, LEASE).await;
    assert_eq!(used(&*store).await, 1);
    let gate = Gate::new();
    gate.open();
    let agent = waiting(store.clone(), &gate, 1);
    let reply = agent.resume(CallOptions::new()).await.unwrap();
    assert!(!reply.text().contains("used up"), "{}", reply.text());
    assert_eq!(used(&*store).await, 1);
    // The next one finds no room.
    assert!(agent.call("Go").await.unwrap().text().contains("used up"));
}

#[tokio::test]
async fn a_use_that_was_made_before_a_crash_stays_counted_though_another_quota_refuses_it_then() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    // The tool of the sub-agent counts for the caller, and from the second process on for the sub-agent too.
    let build = async |address: &str, gate: &Gate, most: Option<u64>| {
        let store = open(address, LEASE).await;
        let calls = |tool: &'static str| {
            ScriptedModel::new("script", move |request| -> ScriptedAnswer {
                match request.messages.last().and_then(|msg| msg.tool_results().next()) {
                    Some(result) => result.output.as_str().into(),
                    None => ToolUse::new("1", tool, json!({ "task": "Go" })).into(),
                }
            })
        };
        let quotas = |name, most| {
            let waits = Quota::tool_calls(name, most).tools(["wait"]).within(HOUR);
            Quotas::builder().quota(waits).build().unwrap()
        };
        let sub = ReActAgent::builder("sub").model(calls("wait")).store(store.clone());
        let sub = sub.tool(gate.tool("wait").idempotent());
        let sub = match most {
            Some(most) => sub.hook(quotas("others", most)),
            None => sub,
        };
        let main = ReActAgent::builder("main").model(calls("sub")).store(store);
        let main = main.tool(sub.build().unwrap().to_tool("Waits."));
        main.hook(quotas("payments", 9)).build().unwrap()
    };
    let at = address.clone();
    crash(async move |gate| build(&at, gate, None).await, "Go").await;
    let store = open(&address, LEASE).await;
    assert_eq!(used(&*store).await, 1);
    let gate = Gate::new();
    gate.open();
    let agent = build(&address, &gate, Some(0)).await;
    let text = agent.resume(CallOptions::new()).await.unwrap().text();
    assert!(text.contains("the quota \"others\" of 0"), "{text}");
    assert_eq!(used(&*store).await, 1);
}

#[tokio::test]
async fn a_refused_tool_has_not_started() {
    for place in places().await {
        let store = place.open().await;
        let seen = Arc::new(std::sync::Mutex::new(None));
        let note = seen.clone();
        let at = store.clone();
        let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
            match request.messages.last().and_then(|msg| msg.tool_results().next()) {
                Some(_) => "end".into(),
                None => ToolUse::new("1", "pay", json!({ "euros": 1 })).into(),
            }
        });
        let look = on_result(move |text: &str| *note.lock().unwrap() = Some(text.to_owned()));
        let paid = Paid::default();
        let agent = ReActAgent::builder("bot").model(model).tool(pay_tool(&paid)).store(store);
        let agent = agent.hook(quotas(0)).hook(look).build().unwrap();
        assert_eq!(agent.call("Pay").await.unwrap().text(), "end");
        assert!(paid.take().is_empty());
        let text = seen.lock().unwrap().take().unwrap();
        assert!(
            text.starts_with("this is more than the quota \"payments\" of 0 in 3600s"),
            "{text}"
        );
        assert_eq!(used(&*at).await, 0);
    }
}

fn on_result(see: impl Fn(&str) + Send + Sync + 'static) -> impl AgentHook {
    on(move |event: &mut PostActing<'_>| see(event.tool_result().output.as_str()))
}
