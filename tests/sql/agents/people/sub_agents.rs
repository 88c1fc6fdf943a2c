//! Decisions of people about the tool calls of sub-agents outlive the process of the call.

use std::sync::Arc;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Decision, DecisionError, Filter, Store, StoreError, Verdict, Waiting,
};
use serde_json::json;

use crate::agents::cut_off_calls::steps::cut_off;
use crate::agents::stores::{Paid, pay, pay_tool, payer, sqlite};

fn task(id: &str, agent: &str) -> ToolUse {
    ToolUse::new(id, agent, json!({ "task": "Pay" }))
}

/// An agent that pays by a sub-agent, so many agents below it; people are asked by the first one.
fn chain(store: &Arc<dyn Store>, paid: &Paid, depth: usize) -> ReActAgent {
    let model = payer([pay("1", 12)]);
    let mut agent = ReActAgent::builder("cashier").model(model).tool(pay_tool(paid).idempotent());
    for number in (0..depth).rev() {
        let below = agent.store(store.clone()).build().unwrap();
        let (name, tool) = (format!("chief {number}"), below.to_tool("Pays."));
        agent = ReActAgent::builder(name).model(payer([task("a", below.name())])).tool(tool);
    }
    agent.store(store.clone()).hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
}

async fn waiting(store: &Arc<dyn Store>) -> Vec<Waiting> {
    store.waiting(Filter::all()).await.unwrap()
}

#[tokio::test]
async fn a_decision_about_a_tool_call_of_a_sub_agent_is_followed_after_a_cut_at_any_step() {
    let decisions = [
        (Decision::Reject("too dear".to_owned()), None, "too dear"),
        (Decision::Respond("she paid herself".into()), None, "she paid herself"),
        (Decision::Approve, Some(12), "paid 12"),
        (Decision::Edit(json!({ "euros": 5 })), Some(5), "paid 5"),
    ];
    for depth in [1, 2] {
        for (decision, euros, text) in &decisions {
            for steps in 1.. {
                let (place, paid) = (sqlite(), Paid::default());
                let store = place.open().await;
                chain(&store, &paid, depth).call("Pay").await.unwrap();
                let id = waiting(&store).await.remove(0).id;
                let verdict = Verdict::new(id.clone(), decision.clone()).by("eve");
                store.decide(vec![verdict]).await.unwrap();

                let build = |store| chain(&store, &paid, depth);
                let ended = cut_off(&place, steps, build, CallOptions::new(), []).await;
                let is_over = ended.is_some();
                let reply = match ended {
                    Some(reply) => reply,
                    None => {
                        assert!(waiting(&store).await.is_empty(), "{decision:?}, {steps} steps");
                        let agent = chain(&place.open().await, &paid, depth);
                        agent.resume(CallOptions::new()).await
                    }
                };
                let text_of_reply = reply.unwrap().text();
                assert!(text_of_reply.contains(text), "{decision:?}, {steps}: {text_of_reply}");
                assert!(waiting(&store).await.is_empty(), "{decision:?}, {steps} steps");
                // The tool is idempotent, so it may run again.
                let mut paid = paid.take();
                paid.dedup();
                assert_eq!(paid, Vec::from_iter(*euros), "{decision:?}, {steps} steps");
                // A second person is told.
                let late = vec![Verdict::new(id, Decision::Approve).by("bob")];
                let late = store.decide(late).await.unwrap_err();
                let is_decided = matches!(
                    &late,
                    StoreError::Decision(DecisionError::AlreadyDecided { by: Some(by), .. }) if **by == *"eve"
                );
                assert!(is_decided, "{late}");
                if is_over {
                    break;
                }
            }
        }
    }
}

/// An agent whose sub-agent pays twice, one payment after the other, by tool calls that are alike.
fn twice(store: &Arc<dyn Store>, paid: &Paid) -> ReActAgent {
    let model = ScriptedModel::new("twice", |request| -> ScriptedAnswer {
        match request.messages.iter().flat_map(Msg::tool_results).count() {
            0 | 1 => pay("1", 12).into(),
            _ => "done".into(),
        }
    });
    let cashier = ReActAgent::builder("cashier").model(model).tool(pay_tool(paid));
    let tool = cashier.store(store.clone()).build().unwrap().to_tool("Pays.");
    let clerk = ReActAgent::builder("clerk").model(payer([task("a", "cashier")])).tool(tool);
    clerk.store(store.clone()).hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
}

#[tokio::test]
async fn a_decision_does_not_count_for_a_later_tool_call_of_the_same_id_after_a_cut_at_any_step() {
    for decision in [Decision::Approve, Decision::Respond("she paid herself".into())] {
        let mut has_asked = false;
        for steps in 1.. {
            let (place, paid) = (sqlite(), Paid::default());
            let store = place.open().await;
            twice(&store, &paid).call("Pay").await.unwrap();
            let id = waiting(&store).await.remove(0).id;
            store.decide(vec![Verdict::new(id.clone(), decision.clone())]).await.unwrap();
            let build = |store| twice(&store, &paid);
            let ended = cut_off(&place, steps, build, CallOptions::new(), []).await;
            let is_over = ended.is_some();
            let reply = match ended {
                Some(reply) => reply,
                None => twice(&place.open().await, &paid).resume(CallOptions::new()).await,
            };
            let reply = reply.unwrap();
            let asked = waiting(&store).await;
            assert!(asked.iter().all(|it| it.id != id), "{decision:?}, {steps}: {asked:?}");
            // Cut off before anybody was asked, the second payment is refused.
            let is_asked = reply.reason == Some(GenerateReason::PermissionAsking);
            assert_eq!(asked.len(), usize::from(is_asked), "{decision:?}, {steps}: {reply:?}");
            has_asked |= is_asked;
            assert!(paid.take().len() <= usize::from(decision == Decision::Approve), "{steps}");
            if is_over {
                break;
            }
        }
        assert!(has_asked);
    }
}

/// An agent with two sub-agents, each of which pays.
fn two(store: &Arc<dyn Store>, paid: &Paid, at_once: bool) -> ReActAgent {
    let sub = |name: &str, euros| {
        let agent = ReActAgent::builder(name).model(payer([pay("1", euros)]));
        let agent = agent.tool(pay_tool(paid).idempotent()).store(store.clone());
        agent.build().unwrap().to_tool("Pays.")
    };
    let model = payer([task("a", "one"), task("b", "two")]);
    let agent = ReActAgent::builder("clerk").model(model).tool(sub("one", 1)).tool(sub("two", 2));
    let agent = agent.hook(HumanInTheLoop::new().ask("pay")).store(store.clone());
    agent.parallel_tools(at_once).build().unwrap()
}

#[tokio::test]
async fn decisions_about_two_sub_agents_are_followed_after_a_cut_at_any_step() {
    for at_once in [true, false] {
        for steps in 1.. {
            let (place, paid) = (sqlite(), Paid::default());
            let store = place.open().await;
            let mut reply = two(&store, &paid, at_once).call("Pay").await.unwrap();
            let mut is_over = false;
            for number in 0.. {
                let asked = waiting(&store).await;
                if asked.is_empty() {
                    break;
                }
                assert!(number < 3, "nobody decides twice: {asked:?}");
                let of = |it: &Waiting| {
                    if it.call_id.starts_with('a') {
                        Decision::Approve
                    } else {
                        Decision::Reject("no".to_owned())
                    }
                };
                let verdicts = asked.iter().map(|it| Verdict::new(it.id.clone(), of(it))).collect();
                store.decide(verdicts).await.unwrap();
                let build = |store| two(&store, &paid, at_once);
                let ended = cut_off(&place, steps, build, CallOptions::new(), []).await;
                is_over = ended.is_some();
                reply = match ended {
                    Some(reply) => reply.unwrap(),
                    None => {
                        let agent = two(&place.open().await, &paid, at_once);
                        agent.resume(CallOptions::new()).await.unwrap()
                    }
                };
            }
            let text = reply.text();
            assert!(text.contains("paid 1") && text.contains("reason: no"), "{steps}: {text}");
            let mut paid = paid.take();
            paid.dedup();
            assert_eq!(paid, [1], "{at_once}, {steps} steps");
            if is_over {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_result_that_a_caller_gives_for_a_sub_agent_comes_there_after_a_cut_at_any_step() {
    for steps in 1.. {
        let (place, paid) = (sqlite(), Paid::default());
        let store = place.open().await;
        let reply = chain(&store, &paid, 1).call("Pay").await.unwrap();
        let answer = reply.pending()[0].answered("she paid herself");
        let build = |store| chain(&store, &paid, 1);
        let ended = cut_off(&place, steps, build, CallOptions::new(), answer).await;
        let is_over = ended.is_some();
        let reply = match ended {
            Some(reply) => reply,
            None => chain(&place.open().await, &paid, 1).resume(CallOptions::new()).await,
        };
        let text = reply.unwrap().text();
        assert!(text.contains("she paid herself"), "{steps}: {text}");
        assert!(waiting(&store).await.is_empty() && paid.take().is_empty(), "{steps} steps");
        if is_over {
            break;
        }
    }
}
