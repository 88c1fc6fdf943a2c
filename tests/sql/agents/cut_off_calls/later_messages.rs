//! Messages that a caller sends while tool calls have no result follow the results.

use std::sync::Arc;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::error::InputError;
use hooks_agent_core::message::{GenerateReason, PendingReason};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Store, ThreadKey, Unknown, Verdict};

use crate::agents::cut_off_calls::steps::cut_off;
use crate::agents::stores::{Paid, Place, pay, pay_tool, payer, sqlite, waiting};
use crate::open::messages;

fn two_payments(store: Arc<dyn Store>, paid: &Paid, at_once: bool) -> ReActAgent {
    let model = payer([pay("1", 1), pay("2", 2)]);
    let builder = ReActAgent::builder("clerk").model(model).tool(pay_tool(paid)).store(store);
    builder.parallel_tools(at_once).on_unknown(Unknown::Ask).build().unwrap()
}

async fn stored(place: &Place) -> Messages {
    let key = ThreadKey::new("clerk", "default").unwrap();
    messages(&*place.open().await, &key).await
}

/// No message stands between a tool call and its result, or behind one without a result, and results
/// stand in the order of their tool calls.
fn assert_in_order(history: &Messages) {
    InputError::check_history(history).unwrap_or_else(|error| panic!("{error}: {history:?}"));
    let mut open: Vec<&str> = Vec::new();
    let mut last = 0;
    for msg in history {
        for result in msg.tool_results() {
            let place = open.iter().position(|id| *id == result.id).unwrap();
            assert!(place >= last, "{history:?}");
            open.remove(place);
            last = place;
        }
        let is_result = msg.tool_results().next().is_some();
        assert!(is_result || open.is_empty(), "{history:?}");
        if msg.tool_uses().next().is_some() {
            (open, last) = (msg.tool_uses().map(|call| &*call.id).collect(), 0);
        }
    }
}

fn said(history: &Messages) -> Vec<String> {
    let said = history.iter().filter(|msg| msg.role == Role::User).map(Msg::text);
    said.filter(|text| !text.is_empty()).collect()
}

#[tokio::test]
async fn a_message_after_a_cut_at_any_step_follows_the_results_and_is_there_once() {
    let mut has_asked = false;
    for at_once in [false, true] {
        for steps in 1.. {
            let (place, paid) = (sqlite(), Paid::default());
            let build = |store| two_payments(store, &paid, at_once);
            let is_over = cut_off(&place, steps, build, CallOptions::new(), "Pay").await.is_some();
            let mut asks = |reply: &Msg| {
                let is_asking = reply.reason == Some(GenerateReason::PermissionAsking);
                has_asked |= is_asking;
                is_asking
            };
            let mut reply = build(place.open().await).call("hello").await.unwrap();
            while asks(&reply) {
                let history = stored(&place).await;
                assert_in_order(&history);
                assert!(!said(&history).contains(&"hello".to_owned()), "{history:?}");
                let why = reply.pending().iter().filter(|it| it.why != PendingReason::NotRun);
                assert!(why.clone().all(|it| it.why == PendingReason::UnknownOutcome));
                let store = place.open().await;
                let ids = waiting(&*store).await.into_iter().map(|it| it.id);
                let respond = |id| Verdict::new(id, Decision::Respond("it arrived".into()));
                store.decide(ids.map(respond).collect()).await.unwrap();
                reply = build(store).resume(CallOptions::new()).await.unwrap();
            }
            assert_eq!(reply.text(), "heard: hello", "{steps} steps");
            let history = stored(&place).await;
            assert_in_order(&history);
            assert_eq!(said(&history), ["Pay", "hello"], "{steps} steps: {history:?}");
            if is_over {
                break;
            }
        }
    }
    assert!(has_asked);
}

#[tokio::test]
async fn a_message_that_is_said_again_after_a_cut_is_there_once() {
    for steps in 1.. {
        let (place, paid) = (sqlite(), Paid::default());
        let build = |store| two_payments(store, &paid, false);
        // The model's answer is stored, and no tool has started.
        assert!(cut_off(&place, 2, build, CallOptions::new(), "Pay").await.is_none());
        let is_over = cut_off(&place, steps, build, CallOptions::new(), "hello").await.is_some();
        if is_over {
            break;
        }
        let mut reply = build(place.open().await).call("hello").await.unwrap();
        while reply.reason == Some(GenerateReason::PermissionAsking) {
            let store = place.open().await;
            let ids = waiting(&*store).await.into_iter().map(|it| it.id);
            let respond = |id| Verdict::new(id, Decision::Respond("it arrived".into()));
            store.decide(ids.map(respond).collect()).await.unwrap();
            reply = build(store).resume(CallOptions::new()).await.unwrap();
        }
        let history = stored(&place).await;
        assert_in_order(&history);
        assert_eq!(said(&history)[..2], ["Pay", "hello"], "{history:?}");
    }
}

#[tokio::test]
async fn a_message_with_a_decision_follows_the_tool_calls_that_a_hook_stops_since() {
    let (place, paid) = (sqlite(), Paid::default());
    let agent = |store: Arc<dyn Store>, stops: bool| {
        let builder = ReActAgent::builder("clerk").model(payer([pay("1", 12)]));
        let builder = builder.tool(pay_tool(&paid)).hook(HumanInTheLoop::new().ask("pay"));
        let stop =
            on(move |event: &mut PreActing<'_>| if stops { event.stop() } else { Flow::Continue });
        builder.hook(stop).store(store).build().unwrap()
    };
    let store = place.open().await;
    agent(store.clone(), false).call("Pay").await.unwrap();
    let id = waiting(&*store).await.remove(0).id;
    let options = CallOptions::new().decide(id, Decision::Approve);
    let reply = agent(place.open().await, true).call_with(options, "hello").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
    assert_in_order(&stored(&place).await);
    let id = waiting(&*store).await.remove(0).id;
    let options = CallOptions::new().decide(id, Decision::Respond("tomorrow".into()));
    let reply = agent(place.open().await, true).resume(options).await.unwrap();
    assert_eq!(reply.text(), "heard: hello");
    let history = stored(&place).await;
    assert_in_order(&history);
    assert_eq!(said(&history), ["Pay", "hello"]);
}

#[tokio::test]
async fn what_an_agent_observes_while_a_tool_call_waits_follows_its_result() {
    let (place, paid) = (sqlite(), Paid::default());
    let agent = crate::agents::stores::clerk(place.open().await, &paid);
    agent.call("Pay").await.unwrap();
    agent.observe(agent.context(CallOptions::new()), Msg::user("by the way")).await.unwrap();
    let id = waiting(&*place.open().await).await.remove(0).id;
    let options = CallOptions::new().decide(id, Decision::Reject("no".to_owned()));
    agent.resume(options).await.unwrap();
    assert_in_order(&stored(&place).await);
}
