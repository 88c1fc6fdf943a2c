//! Decisions of people outlive the process of the call, and nothing runs twice.
//!
//! A call is cut off by forgetting its future: nothing of it is dropped, as in a process that is
//! killed, and its lease stays until its time is over.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::error::InputError;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::message::{DecisionKind, GenerateReason, PendingReason};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Decision, Store, ThreadKey, Unknown};
use hooks_agent_core::tool::FunctionTool;
use serde_json::json;
use tokio::sync::Notify;

use crate::agents::stores::{Paid, Payment, Place, builder, clerk, pay, payer, sqlite, waiting};

const LONG: Duration = Duration::from_secs(10);
const LEASES: &str = "UPDATE thread SET lease_until = 0";

/// Runs a call until it is at a point from which it does not go on, and cuts it off there.
async fn cut_off(place: &Place, agent: ReActAgent, options: CallOptions, there: &Notify) {
    let mut call = Box::pin(async move { agent.resume(options).await });
    tokio::select! {
        ended = &mut call => panic!("the call came to its end: {ended:?}"),
        () = there.notified() => {}
    }
    std::mem::forget(call);
    assert_eq!(place.execute(LEASES).await, 1);
}

/// A hook at which tool calls of `pay` do not go on.
fn hangs(there: &Arc<Notify>) -> impl AgentHook {
    struct Hangs(Arc<Notify>);

    #[agent_hook]
    impl Hangs {
        async fn hang(&self, _event: &mut PreActing<'_>) -> Flow {
            self.0.notify_one();
            std::future::pending().await
        }
    }

    Hangs(there.clone()).with_priority(1000)
}

/// A tool that pays and never returns.
fn hanging_tool(paid: &Paid, there: &Arc<Notify>) -> FunctionTool {
    let (paid, there) = (paid.clone(), there.clone());
    FunctionTool::new("pay", "Pays.", move |Payment { euros }: Payment| {
        paid.push(euros);
        there.notify_one();
        std::future::pending::<String>()
    })
}

fn hanging_agent(
    store: Arc<dyn hooks_agent_core::store::Store>,
    paid: &Paid,
    there: &Arc<Notify>,
) -> ReActAgentBuilder {
    let builder = ReActAgent::builder("clerk").model(payer([pay("1", 12)]));
    builder.tool(hanging_tool(paid, there)).store(store)
}

fn people() -> HumanInTheLoop {
    HumanInTheLoop::new().ask("pay")
}

async fn asked(place: &Place, paid: &Paid) -> Arc<str> {
    let store = place.open().await;
    clerk(store.clone(), paid).call("Pay").await.unwrap();
    waiting(&store).await.remove(0).id
}

#[tokio::test]
async fn a_decision_is_followed_by_the_next_process() {
    let decisions = [(Decision::Approve, 12), (Decision::Edit(json!({ "euros": 5 })), 5)];
    for (decision, euros) in decisions {
        let (place, paid, there) = (sqlite(), Paid::default(), Arc::new(Notify::new()));
        let id = asked(&place, &paid).await;
        let store = place.open().await;
        let agent = builder(store, &paid).hook(people()).hook(hangs(&there)).build().unwrap();
        cut_off(&place, agent, CallOptions::new().decide(id, decision), &there).await;
        assert!(paid.take().is_empty());

        let store = place.open().await;
        let reply = clerk(store.clone(), &paid).resume(CallOptions::new()).await.unwrap();
        assert!(reply.text().contains(&format!("paid {euros}")), "{}", reply.text());
        assert_eq!(paid.take(), [euros]);
        assert!(waiting(&store).await.is_empty());
    }
}

#[tokio::test]
async fn a_decision_about_arguments_that_changed_since_is_not_followed() {
    let (place, paid, there) = (sqlite(), Paid::default(), Arc::new(Notify::new()));
    let id = asked(&place, &paid).await;
    let agent = builder(place.open().await, &paid).hook(people()).hook(hangs(&there));
    let options = CallOptions::new().decide(id, Decision::Approve);
    cut_off(&place, agent.build().unwrap(), options, &there).await;
    place.execute(r#"UPDATE message SET body = replace(body, '"euros":12', '"euros":1200')"#).await;
    let reply = clerk(place.open().await, &paid).resume(CallOptions::new()).await.unwrap();
    assert!(reply.text().contains("so it did not run"), "{}", reply.text());
    assert!(paid.take().is_empty());
}

/// Cuts a call off while its tool runs with these arguments, and asks what happened.
async fn unknown(
    place: &Place,
    paid: &Paid,
    decision: Decision,
) -> hooks_agent_core::store::Waiting {
    let there = Arc::new(Notify::new());
    let id = asked(place, paid).await;
    let agent = hanging_agent(place.open().await, paid, &there).hook(people()).build().unwrap();
    cut_off(place, agent, CallOptions::new().decide(id, decision), &there).await;
    assert_eq!(paid.take().len(), 1);

    let store = place.open().await;
    let reply = asking(place, paid).await.resume(CallOptions::new()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let mut asked = waiting(&store).await;
    assert_eq!(asked.len(), 1);
    let asked = asked.remove(0);
    assert_eq!(asked.why, PendingReason::UnknownOutcome);
    assert!(paid.take().is_empty());
    asked
}

async fn asking(place: &Place, paid: &Paid) -> ReActAgent {
    let builder = builder(place.open().await, paid).hook(people()).on_unknown(Unknown::Ask);
    builder.build().unwrap()
}

#[tokio::test]
async fn ds_20_an_unknown_outcome_waits_and_each_of_its_decisions_works() {
    let decisions = [
        (Decision::Respond("the bank says it arrived".into()), 0, "the bank says it arrived"),
        (Decision::Approve, 1, "paid 12"),
        (
            Decision::Reject("call the bank".to_owned()),
            0,
            "User rejected the tool call for `pay` with reason: call the bank",
        ),
    ];
    for (decision, runs, text) in decisions {
        let (place, paid) = (sqlite(), Paid::default());
        let asked = unknown(&place, &paid, Decision::Approve).await;
        let allowed = [DecisionKind::Approve, DecisionKind::Reject, DecisionKind::Respond];
        assert_eq!(asked.allowed, allowed);
        assert!(asked.description.starts_with("The process ended while `pay` ran"));
        // It waits as long as nobody decides.
        let reply = asking(&place, &paid).await.resume(CallOptions::new()).await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        assert!(paid.take().is_empty());

        let options = CallOptions::new().decide(asked.id, decision);
        assert_eq!(asking(&place, &paid).await.resume(options).await.unwrap().text(), text);
        assert_eq!(paid.take().len(), runs);
        assert!(waiting(&place.open().await).await.is_empty());
    }
}

#[tokio::test]
async fn an_approved_repetition_runs_in_a_process_that_refuses_unknown_outcomes_by_itself() {
    let (place, paid) = (sqlite(), Paid::default());
    let asked = unknown(&place, &paid, Decision::Approve).await;
    let options = CallOptions::new().decide(asked.id, Decision::Approve);
    let reply = clerk(place.open().await, &paid).resume(options).await.unwrap();
    assert_eq!((reply.text().as_str(), paid.take().len()), ("paid 12", 1));
}

#[tokio::test]
async fn an_unknown_outcome_is_asked_about_and_repeated_with_the_arguments_that_a_person_gave() {
    let (place, paid) = (sqlite(), Paid::default());
    let asked = unknown(&place, &paid, Decision::Edit(json!({ "euros": 5 }))).await;
    assert_eq!(asked.arguments, json!({ "euros": 5 }));
    let options = CallOptions::new().decide(asked.id, Decision::Approve);
    let reply = asking(&place, &paid).await.resume(options).await.unwrap();
    assert!(reply.text().contains("paid 5"), "{}", reply.text());
    assert_eq!(paid.take(), [5]);
}

#[tokio::test]
async fn a_repetition_that_is_cut_off_too_is_asked_about_again() {
    let (place, paid, there) = (sqlite(), Paid::default(), Arc::new(Notify::new()));
    let asked = unknown(&place, &paid, Decision::Approve).await;
    let again = hanging_agent(place.open().await, &paid, &there).hook(people());
    let again = again.on_unknown(Unknown::Ask).build().unwrap();
    cut_off(&place, again, CallOptions::new().decide(asked.id.clone(), Decision::Approve), &there)
        .await;
    assert_eq!(paid.take(), [12]);
    let reply = asking(&place, &paid).await.resume(CallOptions::new()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let second = waiting(&place.open().await).await.remove(0);
    assert_ne!(second.id, asked.id);
    assert!(paid.take().is_empty());
}

#[tokio::test]
async fn an_approved_call_whose_outcome_is_unknown_does_not_run_again_by_itself() {
    let (place, paid, there) = (sqlite(), Paid::default(), Arc::new(Notify::new()));
    let id = asked(&place, &paid).await;
    let agent = hanging_agent(place.open().await, &paid, &there).hook(people()).build().unwrap();
    cut_off(&place, agent, CallOptions::new().decide(id, Decision::Approve), &there).await;
    assert_eq!(paid.take(), [12]);
    let reply = clerk(place.open().await, &paid).resume(CallOptions::new()).await.unwrap();
    assert_eq!(reply.text(), "the outcome of this call is unknown: the process ended while it ran");
    assert!(paid.take().is_empty());
}

/// Two workers find a thread that was cut off; the second has its turn when the first has finished it.
#[tokio::test]
async fn what_another_worker_finished_is_not_begun_again() {
    let (place, paid, there) = (sqlite(), Paid::default(), Arc::new(Notify::new()));
    let agent = hanging_agent(place.open().await, &paid, &there).hook(people()).build().unwrap();
    let id = asked(&place, &paid).await;
    cut_off(&place, agent, CallOptions::new().decide(id, Decision::Approve), &there).await;
    paid.take();

    let found = |reply: Result<Msg, AgentError>| match reply {
        Ok(_) => "resumed",
        Err(AgentError::Input(InputError::NothingToResume { .. })) => "nothing to resume",
        Err(error) => panic!("{error:?}"),
    };
    let (first, second) = (clerk(place.open().await, &paid), clerk(place.open().await, &paid));
    let options = || CallOptions::new().only_unfinished();
    let (first, second) = tokio::join!(first.resume(options()), second.resume(options()));
    let mut both = [found(first), found(second)];
    both.sort_unstable();
    assert_eq!(both, ["nothing to resume", "resumed"]);

    // Nothing is written, and the lease is free.
    let (store, key) = (place.open().await, ThreadKey::new("clerk", "default").unwrap());
    let before = store.history(&key).await.unwrap();
    let error = clerk(store.clone(), &paid).resume(options()).await.unwrap_err();
    assert!(error.to_string().contains("nothing is left to do on the thread `default`"), "{error}");
    assert_eq!(store.history(&key).await.unwrap(), before);
    assert!(paid.take().is_empty());
    let reply = clerk(store, &paid).call_with(CallOptions::new().queue_timeout(LONG), "Hi").await;
    reply.unwrap();
}
