//! A question lists all who ask about a tool call, and an answer is for these alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hooks_agent_core::message::DecisionKind::{Approve, Edit, Reject, Respond};
use hooks_agent_core::message::{Asker, GenerateReason, PendingCall, PendingReason, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Decision, Filter, Store};
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_core::tool::Permission;
use proptest::prelude::*;
use serde_json::{Value, json};

fn pay(id: &str) -> ToolUse {
    ToolUse::new(id, "pay", json!({ "euros": 50 }))
}

fn bot(calls: impl IntoIterator<Item = ToolUse>) -> (ReActAgentBuilder, Calls) {
    let pay = Calls::new("pay").answers("paid").answers("paid");
    let model = Script::new().calls(calls).says("done");
    (ReActAgent::builder("bot").model(model).tool(pay.clone()), pay)
}

/// A hook that asks for this reason.
fn asks(name: &str, why: &'static str) -> impl AgentHook {
    on(move |event: &mut PreActing<'_>| event.ask(why)).named(name)
}

fn only(reply: &Msg) -> &PendingCall {
    let [pending] = reply.pending() else { panic!("{reply:?}") };
    pending
}

async fn confirm(agent: &ReActAgent, id: &str) -> Msg {
    agent.resume(CallOptions::new().confirm(id)).await.unwrap()
}

/// Asks as soon as its switch is on.
#[derive(Clone, Default)]
struct Late(Arc<AtomicBool>);

#[agent_hook]
impl Late {
    fn ask(&self, event: &mut PreActing<'_>) -> Flow {
        if self.0.load(Ordering::Relaxed) { event.ask("now I know") } else { Flow::Continue }
    }
}

#[tokio::test]
async fn all_who_ask_about_a_tool_call_are_in_one_question() {
    let (builder, ran) = bot([pay("1")]);
    let builder = builder.hook(asks("amount", "money leaves")).hook(asks("night", "it is late"));
    let agent = builder.build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    let pending = only(&reply);
    let hooks = [("amount", "money leaves"), ("night", "it is late")];
    assert_eq!(pending.askers, hooks.map(|(name, why)| Asker::hook(name, why)));
    assert_eq!(pending.why, PendingReason::Permission("money leaves\nit is late".to_owned()));
    assert_eq!(pending.asked_by.as_deref(), Some("amount"));
    assert_eq!(confirm(&agent, "1").await.text(), "done");
    assert_eq!(ran.inputs().len(), 1);
}

#[tokio::test]
async fn a_yes_to_a_hook_is_one_to_the_permission_of_the_tool_and_not_the_other_way_round() {
    let late = Late::default();
    let pay_asks = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let model = Script::new().calls([pay("1")]).says("done");
    let builder = ReActAgent::builder("bot").model(model);
    let builder = builder.tool(pay_asks.permission(|_| Permission::Ask)).hook(late.clone());
    let agent = builder.build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    assert_eq!(only(&reply).askers, [Asker::permission()]);
    late.0.store(true, Ordering::Relaxed);
    let reply = confirm(&agent, "1").await;
    assert_eq!(only(&reply).asked_by.as_deref(), Some("Late"));
    assert_eq!(confirm(&agent, "1").await.text(), "done");
}

#[tokio::test]
async fn who_asks_after_an_answer_asks_again_and_lists_what_was_answered() {
    let late = Late::default();
    let (builder, ran) = bot([pay("1")]);
    let agent = builder.hook(asks("amount", "money leaves")).hook(late.clone()).build().unwrap();
    agent.call("Pay").await.unwrap();
    late.0.store(true, Ordering::Relaxed);
    let reply = confirm(&agent, "1").await;
    let pending = only(&reply);
    let mut answered = Asker::hook("amount", "money leaves");
    answered.is_answered = true;
    assert_eq!(pending.askers, [Asker::hook("Late", "now I know"), answered]);
    assert_eq!(pending.why, PendingReason::Permission("now I know".to_owned()));
    assert_eq!(pending.asked_by.as_deref(), Some("Late"));
    assert_eq!(ran.inputs().len(), 0);
    // Both are answered now.
    assert_eq!(confirm(&agent, "1").await.text(), "done");
    assert_eq!(ran.inputs().len(), 1);
}

#[tokio::test]
async fn another_reason_of_the_same_hook_asks_again() {
    let dear = Arc::new(AtomicBool::new(false));
    let is_dear = dear.clone();
    let ask = on(move |event: &mut PreActing<'_>| {
        event.ask(if is_dear.load(Ordering::Relaxed) { "it is dear" } else { "it is cheap" })
    });
    let (builder, ran) = bot([pay("1")]);
    let agent = builder.hook(ask).build().unwrap();
    agent.call("Pay").await.unwrap();
    dear.store(true, Ordering::Relaxed);
    let reply = confirm(&agent, "1").await;
    assert_eq!(only(&reply).why, PendingReason::Permission("it is dear".to_owned()));
    assert_eq!(ran.inputs().len(), 0);
    assert_eq!(confirm(&agent, "1").await.text(), "done");
}

#[tokio::test]
async fn a_tool_call_that_had_no_turn_has_no_answer() {
    let (builder, ran) = bot([pay("1"), pay("2")]);
    let agent = builder.hook(asks("amount", "money leaves")).build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    assert_eq!(reply.pending()[1].askers, []);
    let both = CallOptions::new().confirm("1").confirm("2");
    let reply = agent.resume(both).await.unwrap();
    assert_eq!((only(&reply).id.as_str(), ran.inputs().len()), ("2", 1));
    assert_eq!(confirm(&agent, "2").await.text(), "done");
}

#[tokio::test]
async fn a_hook_that_stops_is_answered_for_itself() {
    struct StopFirst;

    #[agent_hook]
    impl StopFirst {
        fn stop(&self, event: &mut PreActing<'_>) -> Flow {
            if event.is_answered("") { Flow::Continue } else { event.stop() }
        }
    }

    // The permission of the tool is asked about first.
    let (builder, _) = bot([pay("1")]);
    let late = Late::default();
    let agent = builder.hook(StopFirst).hook(late.clone()).build().unwrap();
    late.0.store(true, Ordering::Relaxed);
    let reply = agent.call("Pay").await.unwrap();
    let asked = [Asker::hook("Late", "now I know"), Asker::hook("StopFirst", "")];
    assert_eq!(only(&reply).askers, asked);
    assert_eq!(confirm(&agent, "1").await.text(), "done");

    let (builder, _) = bot([pay("1")]);
    let agent = builder.hook(asks("amount", "money leaves")).build().unwrap();
    agent.call("Pay").await.unwrap();
    agent.register_agent_hook(StopFirst);
    let reply = confirm(&agent, "1").await;
    assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
}

#[tokio::test]
async fn what_is_asked_before_anything_runs_is_one_question_with_those_that_join() {
    /// Asks by the answer.
    fn people(name: &str, question: Question) -> impl AgentHook {
        let ask = on(move |event: &mut PostReasoning<'_>| -> HookResult<Flow> {
            let calls = event.message().tool_uses().filter(|call| call.name == "pay");
            Ok(event
                .ask(calls.map(|call| (call.id.clone(), question.clone())).collect::<Vec<_>>())?)
        });
        ask.named(name)
    }

    /// Asks before the tool, and says so before.
    struct Joins;

    #[agent_hook]
    impl Joins {
        fn join(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
            let calls = event.message().tool_uses();
            Ok(event.join(calls.map(|call| (call.id.clone(), "foreseen")).collect::<Vec<_>>())?)
        }

        fn ask(&self, event: &mut PreActing<'_>) -> Flow {
            event.ask("foreseen")
        }
    }

    let hour = Duration::from_hours(1);
    let one = Question::new("Pay?").allow([Reject, Edit, Approve]).expires_after(2 * hour);
    let two = Question::new("Really?").allow([Approve, Respond, Reject]).expires_after(hour);
    for asks_people in [true, false] {
        let (builder, ran) = bot([pay("1")]);
        let store = MemoryStore::new();
        let mut builder = builder.store(store.clone()).hook(Joins);
        if asks_people {
            builder = builder.hook(people("one", one.clone())).hook(people("two", two.clone()));
        }
        let agent = builder.build().unwrap();
        let reply = agent.call("Pay").await.unwrap();
        let askers = &only(&reply).askers;
        let question = store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
        assert_eq!(question.askers, *askers);
        if asks_people {
            assert_eq!(askers.len(), 3);
            assert_eq!(askers[2], Asker::hook("Joins", "foreseen"));
            assert_eq!(question.description, "Pay?\nReally?\nforeseen");
            assert_eq!(question.allowed, [Reject, Approve]);
            assert_eq!(question.expires_after, Some(hour));
        } else {
            assert_eq!(askers, &[Asker::hook("Joins", "foreseen")]);
        }
        let decided = CallOptions::new().decide(question.id, Decision::Approve);
        assert_eq!(agent.resume(decided).await.unwrap().text(), "done");
        assert_eq!(ran.inputs().len(), 1);
    }
}

#[tokio::test]
async fn questions_that_allow_nothing_together_allow_to_reject() {
    let people = |name: &str, kind| {
        let ask = on(move |event: &mut PostReasoning<'_>| -> HookResult<Flow> {
            let calls = event.message().tool_uses();
            let question = Question::new("Pay?").allow([kind]);
            Ok(event
                .ask(calls.map(|call| (call.id.clone(), question.clone())).collect::<Vec<_>>())?)
        });
        ask.named(name)
    };
    let (builder, _) = bot([pay("1")]);
    let builder = builder.hook(people("one", Approve)).hook(people("two", Respond));
    let reply = builder.build().unwrap().call("Pay").await.unwrap();
    assert_eq!(only(&reply).question.as_ref().unwrap().allowed, [Reject]);
}

#[tokio::test]
async fn a_question_of_another_list_is_another_question() {
    let late = Late::default();
    let (builder, ran) = bot([pay("1")]);
    let store = MemoryStore::new();
    let builder = builder.store(store.clone()).hook(asks("amount", "money leaves"));
    let agent = builder.hook(late.clone()).build().unwrap();
    agent.call("Pay").await.unwrap();
    let first = store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
    late.0.store(true, Ordering::Relaxed);
    let decide = |id| agent.resume(CallOptions::new().decide(id, Decision::Approve));
    decide(first.id.clone()).await.unwrap();
    let second = store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
    assert_ne!((&first.id, &first.digest), (&second.id, &second.digest));
    assert!(decide(first.id).await.is_err());
    // A question whose list was changed is not the one that was shown.
    let mut forged = second.clone();
    assert!(forged.is_as_shown());
    forged.askers.pop();
    assert!(!forged.is_as_shown());
    assert_eq!(decide(second.id).await.unwrap().text(), "done");
    assert_eq!(ran.inputs().len(), 1);
}

proptest! {
    /// Whatever is asked when, by whom and for what: the tool runs only once each pair that asks then was
    /// in a question that was confirmed.
    #[test]
    fn no_pair_of_hook_and_reason_is_answered_unseen(
        rounds in proptest::collection::vec(proptest::collection::vec(0_u8..4, 3), 1..8)
    ) {
        let now: Arc<std::sync::Mutex<Vec<u8>>> = Arc::default();
        let (mut builder, ran) = bot([pay("1")]);
        for hook in 0..3 {
            let now = now.clone();
            let ask = on(move |event: &mut PreActing<'_>| match now.lock().unwrap()[hook] {
                0 => Flow::Continue,
                why => event.ask(why.to_string()),
            });
            builder = builder.hook(ask.named(format!("hook {hook}")));
        }
        let agent = builder.build().unwrap();
        let mut shown: Vec<(String, String)> = Vec::new();
        futures::executor::block_on(async {
            for (number, round) in rounds.iter().enumerate() {
                *now.lock().unwrap() = round.clone();
                let pairs = round.iter().enumerate().filter(|(_, why)| **why > 0);
                let pairs = pairs.map(|(hook, why)| (format!("hook {hook}"), why.to_string()));
                let is_new = pairs.clone().any(|pair| !shown.contains(&pair));
                let reply = match number {
                    0 => agent.call("Pay").await.unwrap(),
                    _ => confirm(&agent, "1").await,
                };
                prop_assert_eq!(reply.pending().is_empty(), !is_new);
                prop_assert_eq!(ran.inputs().len(), usize::from(!is_new));
                if !is_new {
                    break;
                }
                let hook = |asker: &Asker| (asker.hook.clone().unwrap(), asker.reason.clone());
                let listed: Vec<_> = only(&reply).askers.iter().map(hook).collect();
                for pair in pairs {
                    prop_assert!(listed.contains(&pair));
                }
                shown = listed;
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn what_people_let_run_is_the_tool_that_was_shown() {
    for asks_before in [true, false] {
        let store = MemoryStore::new();
        let build = |description: &str| {
            let pay = FunctionTool::new("pay", description, async |_: Value| "paid");
            let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
                match request.messages.last().and_then(|msg| msg.tool_results().next()) {
                    Some(result) => result.output.as_str().into(),
                    None => self::pay("1").into(),
                }
            });
            let builder = ReActAgent::builder("bot").model(model).tool(pay).store(store.clone());
            let before = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
                let ids = event.message().tool_uses().map(|call| call.id.clone());
                let asked: Vec<_> = ids.map(|id| (id, Question::new("Pay?"))).collect();
                Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
            });
            let builder = if asks_before {
                builder.hook(before)
            } else {
                builder.hook(asks("amount", "money leaves"))
            };
            builder.build().unwrap()
        };
        let of = |thread: &str| CallOptions::new().thread(thread);
        let mut ids = Vec::new();
        for thread in ["decided", "confirmed"] {
            build("Pays.").call_with(of(thread), "Pay").await.unwrap();
            let filter = Filter::agent("bot").thread(thread);
            ids.push(store.waiting(filter).await.unwrap().remove(0).id);
        }
        // A deployment later, another tool has the name.
        let changed = build("Pays, and tells eve.");
        let decided = of("decided").decide(ids[0].clone(), Decision::Approve);
        for options in [decided, of("confirmed").confirm("1")] {
            let reply = changed.resume(options).await.unwrap();
            assert!(reply.text().contains("the tool was changed"), "{reply:?}");
        }
    }
}
