//! A sub-agent that asks is answered through its caller, by ids that are paths.

use std::pin::pin;
use std::sync::Arc;

use futures::{StreamExt, poll};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Msg, PendingCall, PendingReason, Role, ToolResult, ToolUse,
};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, Permission};
use hooks_core::{HookResult, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

type Ran = Arc<Records<String>>;

/// The tool `pay`, which asks; it notes what it was given.
fn pay_tool(paid: &Ran) -> FunctionTool {
    let paid = paid.clone();
    FunctionTool::new("pay", "Pays.", move |input: Value| {
        paid.push(input["text"].as_str().unwrap_or_default().to_owned());
        async { "paid" }
    })
    .permission(|_| Permission::Ask)
}

fn pay(id: &str, text: &str) -> ToolUse {
    ToolUse::new(id, "pay", json!({ "text": text }))
}

fn task(id: &str, agent: &str, text: &str) -> ToolUse {
    ToolUse::new(id, agent, json!({ "task": text }))
}

fn agent<A: Into<ScriptedAnswer>>(
    name: &'static str,
    answers: impl IntoIterator<Item = A>,
) -> ReActAgentBuilder {
    ReActAgent::builder(name).model(script(answers).0)
}

/// An agent that makes one of these payments for each task and reports it.
fn payer(name: &'static str, paid: &Ran, payments: &[(&str, &str)]) -> ReActAgent {
    let rounds = payments.iter().flat_map(|(id, text)| {
        [ScriptedAnswer::from(pay(id, text)), format!("{text} is paid").into()]
    });
    agent(name, rounds).tool(pay_tool(paid)).build().unwrap()
}

fn ids(pending: &[PendingCall]) -> Vec<&str> {
    pending.iter().map(|pending| pending.id.as_str()).collect()
}

fn confirm(id: &str) -> CallOptions {
    CallOptions::new().confirm(id)
}

/// A result for a tool call, by the id that the caller knows.
fn denial(id: &str, reason: &str) -> Msg {
    Msg::tool_result(ToolResult::error(&pay(id, ""), reason))
}

fn shown(results: &[(&str, &str)]) -> Vec<(String, String)> {
    results.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn a_question_of_a_sub_agent_is_answered_through_its_caller_and_other_tools_run_once() {
    for at_once in [false, true] {
        let (paid, echoed) = (Ran::default(), Ran::default());
        let worker = payer("worker", &paid, &[("p", "rent")]);
        let calls = [echo("e", "A"), task("c", "worker", "pay"), echo("f", "B")];
        let boss = agent("boss", [uses(calls), "done".into()])
            .tool(echo_tool(&echoed))
            .tool(worker.to_tool("Pays."))
            .parallel_tools(at_once)
            .build()
            .unwrap();
        let asked = boss.call(go()).await.unwrap();
        assert_eq!(asked.reason, Some(GenerateReason::PermissionAsking));
        let first = &asked.pending()[0];
        assert_eq!((first.id.as_str(), &first.agents[..]), ("c/p", &["worker".to_owned()][..]));
        assert_eq!(first.why, PendingReason::Permission(String::new()));
        assert_eq!((first.call.name.as_str(), &first.call.input["text"]), ("pay", &json!("rent")));
        assert_eq!(ids(asked.pending()), if at_once { vec!["c/p"] } else { vec!["c/p", "f"] });
        assert_eq!(asked.pending(), boss.memory().pending());
        assert_eq!((paid.take(), echoed.take().len()), (vec![], if at_once { 2 } else { 1 }));

        let reply = boss.resume(confirm("c/p")).await.unwrap();
        assert_eq!(
            (reply.text().as_str(), reply.reason),
            ("done", Some(GenerateReason::ModelStop))
        );
        assert!(reply.pending().is_empty() && boss.memory().pending().is_empty());
        assert_eq!(
            (paid.take(), echoed.take().len()),
            (vec!["rent".into()], usize::from(!at_once))
        );
        assert_eq!(results(&boss), shown(&[("e", "A"), ("c", "rent is paid"), ("f", "B")]));
        assert_valid(&boss);
        assert_valid(&worker);
    }
}

/// A boss, its chief and the chief's worker, who pays rent and then fees.
fn three_levels(paid: &Ran, at_once: bool) -> [ReActAgent; 3] {
    let rounds = [uses([pay("x", "rent"), pay("y", "fees")]), "worker is done".into()];
    let worker =
        agent("worker", rounds).tool(pay_tool(paid)).parallel_tools(at_once).build().unwrap();
    let chief =
        agent("chief", [task("x", "worker", "pay").into(), ScriptedAnswer::from("chief is done")])
            .tool(worker.to_tool("Pays."))
            .parallel_tools(at_once)
            .build()
            .unwrap();
    let boss =
        agent("boss", [task("x", "chief", "pay").into(), ScriptedAnswer::from("boss is done")])
            .tool(chief.to_tool("Has it paid."))
            .parallel_tools(at_once)
            .build()
            .unwrap();
    [boss, chief, worker]
}

#[tokio::test]
async fn questions_and_answers_go_through_three_levels_of_agents_with_equal_ids() {
    for at_once in [false, true] {
        let paid = Ran::default();
        let agents = three_levels(&paid, at_once);
        let [boss, chief, worker] = &agents;
        let asked = boss.call(go()).await.unwrap();
        assert_eq!(ids(asked.pending()), ["x/x/x", "x/x/y"]);
        assert_eq!(asked.pending()[0].agents, ["chief", "worker"]);
        assert_eq!(ids(&chief.memory().pending()), ["x/x", "x/y"]);
        assert_eq!(ids(&worker.memory().pending()), ["x", "y"]);
        let asked = boss.resume(confirm("x/x/x")).await.unwrap();
        assert_eq!((ids(asked.pending()), paid.take()), (vec!["x/x/y"], vec!["rent".to_owned()]));
        let reply = boss.call(denial("x/x/y", "too much")).await.unwrap();
        assert_eq!((reply.text().as_str(), paid.take()), ("boss is done", vec![]));
        assert_eq!(results(worker), shown(&[("x", "paid"), ("y", "! too much")]));
        assert_eq!(results(chief), shown(&[("x", "worker is done")]));
        assert_eq!(results(boss), shown(&[("x", "chief is done")]));
        for agent in &agents {
            assert_valid(agent);
            assert!(agent.memory().pending().is_empty());
        }
    }
}

#[tokio::test]
async fn a_caller_that_is_resumed_without_a_decision_asks_the_same_again() {
    let paid = Ran::default();
    let agents = three_levels(&paid, false);
    let first = agents[0].call(go()).await.unwrap();
    for _ in 0..3 {
        let again = agents[0].resume(CallOptions::new()).await.unwrap();
        assert_eq!(again.reason, Some(GenerateReason::PermissionAsking));
        assert_eq!(again.pending()[0], first.pending()[0]);
        assert_eq!(agents[0].memory().pending(), again.pending());
    }
    assert_eq!(paid.take(), [] as [String; 0]);
    // One user message, one answer with a tool call: nobody was asked twice.
    assert!(agents.iter().all(|agent| agent.memory().messages().len() == 2));
}

#[tokio::test]
async fn two_sub_agents_that_ask_at_once_are_answered_one_by_one() {
    let paid = Ran::default();
    let left = payer("left", &paid, &[("p", "rent")]);
    let right = payer("right", &paid, &[("p", "fees")]);
    let calls = [task("l", "left", "pay"), task("r", "right", "pay")];
    let boss = agent("boss", [uses(calls), "done".into()])
        .tool(left.to_tool("Pays."))
        .tool(right.to_tool("Pays."))
        .parallel_tools(true)
        .build()
        .unwrap();
    assert_eq!(ids(boss.call(go()).await.unwrap().pending()), ["l/p", "r/p"]);
    let asked = boss.resume(confirm("r/p")).await.unwrap();
    assert_eq!((ids(asked.pending()), paid.take()), (vec!["l/p"], vec!["fees".to_owned()]));
    assert_eq!(boss.resume(confirm("l/p")).await.unwrap().text(), "done");
    assert_eq!(paid.take(), ["rent"]);
    assert_eq!(results(&boss), shown(&[("l", "rent is paid"), ("r", "fees is paid")]));
    assert_valid(&boss);
}

#[tokio::test]
async fn a_sub_agent_whose_question_waits_takes_no_second_task_of_the_batch() {
    for (recovers, is_slow) in [(false, false), (true, false), (false, true), (true, true)] {
        let paid = Ran::default();
        let rounds = [ScriptedAnswer::from(pay("p", "rent")), "rent is paid".into()];
        let worker = agent("worker", rounds)
            .tool(pay_tool(&paid))
            .recover_pending(recovers)
            .build()
            .unwrap();
        if is_slow {
            worker.register_instance_hook(
                ReActAgent::PRE_REASONING,
                "slow",
                hook!(ReActAgent::PRE_REASONING, async |_, _| tokio::task::yield_now().await),
            );
        }
        let calls = [task("a", "worker", "first"), task("b", "worker", "second")];
        let boss = agent("boss", [uses(calls), "done".into()])
            .tool(worker.to_tool("Pays."))
            .parallel_tools(true)
            .build()
            .unwrap();
        let asked = boss.call(go()).await.unwrap();
        assert_eq!(ids(asked.pending()), ["a/p"]);
        assert_eq!(ids(&worker.memory().pending()), ["p"], "recovers: {recovers}");
        let reply = boss.resume(confirm("a/p")).await.unwrap();
        assert_eq!((reply.text().as_str(), paid.take()), ("done", vec!["rent".to_owned()]));
        let [(_, first), (_, second)] = &results(&boss)[..] else { panic!("two results") };
        assert!(first == "rent is paid" && second.starts_with("! "), "{first} {second}");
        assert_valid(&boss);
        assert_valid(&worker);
    }
}

/// The second task of the batch waits too, because a hook stopped it, and has its turn first.
#[tokio::test]
async fn a_second_task_of_a_batch_does_not_take_the_place_of_a_question() {
    let paid = Ran::default();
    let rounds = [ScriptedAnswer::from(pay("p", "rent")), "rent is paid".into(), "second".into()];
    let worker = agent("worker", rounds).tool(pay_tool(&paid)).build().unwrap();
    let calls = [task("a", "worker", "first"), task("b", "worker", "second")];
    let stops = std::sync::atomic::AtomicBool::new(true);
    let boss = agent("boss", [uses(calls), "done".into()])
        .tool(worker.to_tool("Pays."))
        .parallel_tools(true)
        .hook(on(EventKind::PreActing, move |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            let is_second = event.tool_use().id == "b";
            let stops = is_second && stops.swap(false, std::sync::atomic::Ordering::Relaxed);
            Ok(if stops { event.stop() } else { Flow::Continue })
        }))
        .build()
        .unwrap();
    assert_eq!(ids(boss.call(go()).await.unwrap().pending()), ["a/p", "b"]);
    boss.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "slow",
        hook!(ReActAgent::PRE_ACTING, async |_, args| {
            if args.input.call.id == "a" {
                tokio::task::yield_now().await;
            }
        }),
    );
    let reply = boss.resume(confirm("a/p")).await.unwrap();
    assert_eq!((reply.text().as_str(), paid.take()), ("done", vec!["rent".to_owned()]));
    assert!(results(&boss).iter().any(|(id, text)| id == "a" && text == "rent is paid"));
    let tasks = worker.memory().messages().iter().filter(|msg| msg.text() == "first").count();
    assert_eq!(tasks, 1);
    assert_valid(&boss);
    assert_valid(&worker);
}

#[tokio::test]
async fn tool_calls_of_two_levels_whose_ids_read_alike_are_told_apart() {
    for order in [[0, 1], [1, 0]] {
        let paid = Ran::default();
        let worker = payer("worker", &paid, &[("p", "below")]);
        let calls = [task("a", "worker", "pay"), pay("a/p", "own")];
        let calls = order.map(|index| calls[index].clone());
        let boss = agent("boss", [uses(calls), "done".into()])
            .tool(worker.to_tool("Pays."))
            .tool(pay_tool(&paid))
            .parallel_tools(true)
            .build()
            .unwrap();
        let asked = boss.call(go()).await.unwrap();
        let [one, other] = asked.pending() else { panic!("{asked:?}") };
        assert_ne!(one.id, other.id);
        let next = boss.resume(confirm(&one.id)).await.unwrap();
        assert_eq!(paid.take(), [one.call.input["text"].as_str().unwrap()]);
        assert_eq!(ids(next.pending()), [other.id.as_str()]);
        assert_eq!(boss.resume(confirm(&other.id)).await.unwrap().text(), "done");
        assert_eq!(paid.take(), [other.call.input["text"].as_str().unwrap()]);
    }
}

/// Asks for every tool call, of sub-agents too.
struct Approval;

impl AgentHook for Approval {
    fn inherit(&self) -> bool {
        true
    }

    fn events(&self) -> EventMask {
        EventKind::PreActing.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        Ok(event.ask("each step"))
    }
}

#[tokio::test]
async fn a_hook_that_asks_for_every_tool_call_is_answered_once_for_each_at_every_level() {
    for denies in [false, true] {
        let ran = Ran::default();
        let worker = agent("worker", [echo("e", "work").into(), ScriptedAnswer::from("worked")])
            .tool(echo_tool(&ran))
            .build()
            .unwrap();
        let chief = agent("chief", [task("w", "worker", "go").into(), ScriptedAnswer::from("led")])
            .tool(worker.to_tool("Works."))
            .build()
            .unwrap();
        let boss = agent("boss", [task("c", "chief", "go").into(), ScriptedAnswer::from("done")])
            .tool(chief.to_tool("Leads."))
            .hook(Approval)
            .build()
            .unwrap();
        let mut reply = boss.call(go()).await.unwrap();
        for id in ["c", "c/w", "c/w/e"] {
            assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking), "{id}");
            assert_eq!(ids(reply.pending()), [id]);
            assert_eq!(reply.pending()[0].why, PendingReason::Permission("each step".to_owned()));
            assert_eq!(ran.take(), [] as [String; 0]);
            // Without a decision, the same question comes again.
            let again = boss.resume(CallOptions::new()).await.unwrap();
            assert_eq!(again.pending(), reply.pending());
            reply = if denies && id == "c/w/e" {
                boss.call(denial(id, "no")).await.unwrap()
            } else {
                boss.resume(confirm(id)).await.unwrap()
            };
        }
        assert_eq!(reply.text(), "done");
        assert_eq!(ran.take().len(), usize::from(!denies));
        for agent in [&boss, &chief, &worker] {
            assert_valid(agent);
        }
    }
}

#[tokio::test]
async fn a_caller_that_gives_a_question_up_can_give_the_sub_agent_another_task() {
    // A model may use the id of the earlier tool call again.
    for id in ["d", "c"] {
        let paid = Ran::default();
        let (model, requests) =
            script([ScriptedAnswer::from(pay("p", "old")), "the new task is done".into()]);
        let worker =
            ReActAgent::builder("worker").model(model).tool(pay_tool(&paid)).build().unwrap();
        let rounds = [task("c", "worker", "old task"), task(id, "worker", "new task")];
        let rounds = rounds.map(ScriptedAnswer::from).into_iter().chain(["done".into()]);
        let boss = agent("boss", rounds)
            .tool(worker.to_tool("Pays."))
            .recover_pending(true)
            .build()
            .unwrap();
        boss.call(go()).await.unwrap();
        let reply = boss.call(Msg::user("something else")).await.unwrap();
        assert_eq!(reply.text(), "done", "{:?}", reply.pending());
        assert_eq!(requests.take().last().unwrap().last_text(), "new task");
        assert_eq!(results(&boss)[1].1, "the new task is done");
        assert!(results(&worker)[0].1.starts_with("! "));
        assert_eq!(paid.take(), [] as [String; 0]);
        assert_valid(&boss);
        assert_valid(&worker);
    }
}

#[tokio::test]
async fn a_result_for_the_tool_call_of_a_sub_agent_gives_its_question_up() {
    let paid = Ran::default();
    let worker = agent("worker", [ScriptedAnswer::from(pay("p", "old")), "second".into()])
        .tool(pay_tool(&paid))
        .build()
        .unwrap();
    let calls = [task("a", "worker", "first"), task("b", "worker", "second")];
    let boss =
        agent("boss", [uses(calls), "done".into()]).tool(worker.to_tool("Pays.")).build().unwrap();
    assert_eq!(ids(boss.call(go()).await.unwrap().pending()), ["a/p", "b"]);
    let by_hand = ToolResult::success(&task("a", "worker", ""), "by hand");
    assert_eq!(boss.call(Msg::tool_result(by_hand)).await.unwrap().text(), "done");
    assert_eq!(results(&boss), shown(&[("a", "by hand"), ("b", "second")]));
    assert_eq!(paid.take(), [] as [String; 0]);
    assert_valid(&worker);
}

#[tokio::test]
async fn a_call_of_another_agent_with_the_same_ids_does_not_answer_a_question() {
    let paid = Ran::default();
    let worker = payer("worker", &paid, &[("p", "rent")]);
    let boss = |name| {
        agent(name, [task("c", "worker", "pay").into(), ScriptedAnswer::from("done")])
            .tool(worker.to_tool("Pays."))
            .build()
            .unwrap()
    };
    let (mine, other) = (boss("mine"), boss("other"));
    mine.call(go()).await.unwrap();
    assert_eq!(other.call(go()).await.unwrap().text(), "done");
    assert_eq!(
        results(&other),
        shown(&[("c", "! the agent waits for an answer to an earlier task")])
    );
    let error = other.resume(confirm("c/p")).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::UnknownConfirmations { .. })));
    assert_eq!(paid.take(), [] as [String; 0]);
    assert_eq!(mine.resume(confirm("c/p")).await.unwrap().text(), "done");
    assert_eq!(paid.take(), ["rent"]);
}

#[tokio::test]
async fn threads_of_a_caller_have_questions_of_their_own() {
    let paid = Ran::default();
    let worker = payer("worker", &paid, &[("p", "rent"), ("p", "fees")]);
    let rounds = [task("c", "worker", "pay"), task("c", "worker", "pay")];
    let rounds = rounds.map(ScriptedAnswer::from).into_iter().chain(["done".into(), "done".into()]);
    let boss = agent("boss", rounds).tool(worker.to_tool("Pays.")).build().unwrap();
    // The worker's script: rent for thread `a`; its next answer is text, for thread `b`.
    let asked = boss.call_with(CallOptions::new().thread("a"), go()).await.unwrap();
    assert_eq!(ids(asked.pending()), ["c/p"]);
    let error = boss.resume(confirm("c/p").thread("b")).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::UnknownConfirmations { .. })));
    assert_eq!(paid.take(), [] as [String; 0]);
    assert_eq!(ids(&boss.threads().memory("a").unwrap().pending()), ["c/p"]);
    boss.resume(confirm("c/p").thread("a")).await.unwrap();
    assert_eq!(paid.take().len(), 1);
}

#[tokio::test]
async fn input_that_answers_no_question_of_a_sub_agent_is_refused_and_changes_nothing() {
    let paid = Ran::default();
    let agents = three_levels(&paid, false);
    let boss = &agents[0];
    let asked = boss.call(go()).await.unwrap();
    let histories = || agents.each_ref().map(|agent| agent.memory().messages());
    let before = histories();
    for id in ["x", "x/x", "x/x/z", "x/x/x/x", "worker", ""] {
        let error = boss.resume(confirm(id)).await.unwrap_err();
        let AgentError::Input(InputError::UnknownConfirmations { ids, expected }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((ids, expected), (vec![id.to_owned()], vec!["x/x/x".into(), "x/x/y".into()]));
    }
    for messages in [
        vec![denial("x/x/z", "no")],
        vec![denial("x/x/x", "no"), denial("x/x/x", "twice")],
        vec![denial("x/x/x", "no"), go()],
        vec![go()],
    ] {
        let error = boss.call(messages).await.unwrap_err();
        assert!(matches!(error, AgentError::Input(_)), "{error:?}");
    }
    assert_eq!(histories(), before);
    assert_eq!(boss.memory().pending(), asked.pending());
    assert_eq!(paid.take(), [] as [String; 0]);
    // The question can still be answered.
    boss.resume(confirm("x/x/x")).await.unwrap();
    assert_eq!(paid.take(), ["rent"]);
}

/// The tool `pay`, which asks, and never comes to its end.
fn endless(started: &Arc<Records<()>>) -> FunctionTool {
    let started = started.clone();
    FunctionTool::new("pay", "Pays.", move |_: Value| {
        started.push(());
        async {
            Notify::new().notified().await;
            "unreached"
        }
    })
    .permission(|_| Permission::Ask)
}

#[tokio::test]
async fn a_resumed_call_that_is_dropped_or_interrupted_leaves_every_level_valid_and_usable() {
    for interrupts in [false, true] {
        let started = Arc::new(Records::new());
        let worker = agent("worker", [pay("x", "rent").into(), ScriptedAnswer::from("next")])
            .tool(endless(&started))
            .build()
            .unwrap();
        let rounds =
            || [task("x", "worker", "a"), task("x", "worker", "b")].map(ScriptedAnswer::from);
        let chief = agent("chief", rounds().into_iter().chain(["chief".into()]))
            .tool(worker.to_tool("Pays."))
            .build()
            .unwrap();
        let rounds = [task("x", "chief", "a"), task("x", "chief", "b")].map(ScriptedAnswer::from);
        let boss = agent("boss", rounds.into_iter().chain(["boss".into()]))
            .tool(chief.to_tool("Has it paid."))
            .build()
            .unwrap();
        assert_eq!(ids(boss.call(go()).await.unwrap().pending()), ["x/x/x"]);
        let token = hooks_agent_core::call::Interrupt::new();
        let mut call = Box::pin(boss.resume(confirm("x/x/x").interrupt(token.clone())));
        assert!(poll!(&mut call).is_pending());
        assert_eq!(started.take().len(), 1);
        if interrupts {
            token.interrupt();
            assert_eq!(call.await.unwrap().reason, Some(GenerateReason::Interrupted));
        } else {
            drop(call);
        }
        for agent in [&boss, &chief, &worker] {
            assert_valid(agent);
            assert!(agent.memory().pending().is_empty());
        }
        // The same ids again, for new tasks.
        assert_eq!(boss.call(go()).await.unwrap().text(), "boss");
        assert_eq!(results(&chief)[1].1, "next");
        assert!(started.take().is_empty());
    }
}

#[tokio::test]
async fn a_resumed_call_that_ends_before_the_sub_agent_goes_on_does_not_bind_the_next_task() {
    for fails in [false, true] {
        let paid = Ran::default();
        let worker = agent("worker", [pay("p", "old").into(), ScriptedAnswer::from("new")])
            .tool(pay_tool(&paid))
            .build()
            .unwrap();
        let rounds = [task("c", "worker", "old"), task("c", "worker", "new")];
        let rounds = rounds.map(ScriptedAnswer::from).into_iter().chain(["done".into()]);
        let boss = agent("boss", rounds).tool(worker.to_tool("Pays.")).build().unwrap();
        boss.call(go()).await.unwrap();
        boss.register_instance_hook(
            ReActAgent::PRE_ACTING,
            "ends",
            hook!(ReActAgent::PRE_ACTING, async move |_, _| -> HookResult {
                if fails {
                    return Err("as told".into());
                }
                std::future::pending::<()>().await;
                Ok(())
            }),
        );
        {
            let mut call = pin!(boss.resume(confirm("c/p")));
            assert_eq!(poll!(&mut call).is_ready(), fails);
        }
        boss.remove_instance_hook(ReActAgent::PRE_ACTING, "ends").unwrap();
        assert_valid(&boss);
        assert!(boss.memory().pending().is_empty());
        assert_eq!(boss.call(go()).await.unwrap().text(), "done");
        assert_eq!((results(&boss)[1].1.as_str(), paid.take()), ("new", vec![]));
        assert_valid(&worker);
    }
}

#[tokio::test]
async fn a_sub_agent_that_fails_when_it_is_resumed_gives_its_caller_an_error() {
    let paid = Ran::default();
    let worker = agent("worker", [pay("p", "rent")]).tool(pay_tool(&paid)).build().unwrap();
    let boss = agent("boss", [task("c", "worker", "pay").into(), ScriptedAnswer::from("done")])
        .tool(worker.to_tool("Pays."))
        .build()
        .unwrap();
    boss.call(go()).await.unwrap();
    // The script of the worker is over.
    assert_eq!(boss.resume(confirm("c/p")).await.unwrap().text(), "done");
    assert_eq!(paid.take(), ["rent"]);
    assert!(results(&boss)[0].1.starts_with("! "), "{:?}", results(&boss));
    assert_valid(&boss);
    assert_valid(&worker);
}

/// Refuses what is forbidden, in sub-agents too.
struct Govern(Arc<Records<String>>);

impl AgentHook for Govern {
    fn inherit(&self) -> bool {
        true
    }

    fn events(&self) -> EventMask {
        EventKind::PreActing.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        self.0.push(event.tool_use().id.clone());
        let is_forbidden = event.tool_use().input["text"] == "forbidden";
        Ok(if is_forbidden { event.refuse("not here") } else { Flow::Continue })
    }
}

#[tokio::test]
async fn inherited_hooks_govern_a_sub_agent_that_is_resumed() {
    let (paid, echoed, seen) = (Ran::default(), Ran::default(), Arc::new(Records::new()));
    let rounds = [uses([pay("p", "rent")]), uses([echo("e", "forbidden")]), "worked".into()];
    let worker =
        agent("worker", rounds).tool(pay_tool(&paid)).tool(echo_tool(&echoed)).build().unwrap();
    let boss = agent("boss", [task("c", "worker", "pay").into(), ScriptedAnswer::from("done")])
        .tool(worker.to_tool("Works."))
        .hook(Govern(seen.clone()))
        .build()
        .unwrap();
    boss.call(go()).await.unwrap();
    assert_eq!(seen.take(), ["c", "p"]);
    assert_eq!(boss.resume(confirm("c/p")).await.unwrap().text(), "done");
    assert_eq!(seen.take(), ["c", "p", "e"]);
    assert_eq!((paid.take(), echoed.take()), (vec!["rent".to_owned()], vec![]));
    assert_eq!(results(&worker)[1].1, "! not here");
}

#[tokio::test]
async fn a_stream_asks_once_for_the_question_of_a_sub_agent_with_the_id_that_answers_it() {
    let paid = Ran::default();
    let [boss, _chief, _worker] = three_levels(&paid, false);
    for options in [None, Some(CallOptions::new())] {
        let stream = match options {
            None => boss.stream(go()),
            Some(options) => boss.stream_with(options, hooks_agent_core::message::Messages::new()),
        };
        let events: Vec<_> = stream.map(Result::unwrap).collect().await;
        let asked: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.kind {
                AgentEventKind::PermissionAsked(pending) => Some((&*event.agent, pending.clone())),
                _ => None,
            })
            .collect();
        let AgentEventKind::Finished(reply) = &events.last().unwrap().kind else { panic!() };
        assert_eq!(asked, [("boss", reply.pending()[0].clone())]);
        assert_eq!(reply.pending()[0].id, "x/x/x");
        let tools = events.iter().filter_map(|event| match &event.kind {
            AgentEventKind::ToolStarted(call) => Some(call.name.as_str()),
            _ => None,
        });
        assert_eq!(tools.collect::<Vec<_>>(), ["chief", "worker"]);
    }
}

#[tokio::test]
async fn a_confirmation_for_a_sub_agent_is_good_for_that_call_alone() {
    let paid = Ran::default();
    let rounds = [pay("p", "rent"), pay("p", "palace")].map(ScriptedAnswer::from);
    let worker = agent("worker", rounds).tool(pay_tool(&paid)).build().unwrap();
    let boss =
        agent("boss", [task("c", "worker", "pay")]).tool(worker.to_tool("Pays.")).build().unwrap();
    boss.call(go()).await.unwrap();
    let asked = boss.resume(confirm("c/p")).await.unwrap();
    assert_eq!((ids(asked.pending()), paid.take()), (vec!["c/p"], vec!["rent".to_owned()]));
    assert_eq!(asked.pending()[0].call.input["text"], "palace");
}

#[tokio::test]
async fn a_sub_agent_finishes_its_first_task_before_the_second_of_a_parallel_batch() {
    let model = hooks_agent_core::model::ScriptedModel::new("echoes", |request: &ChatRequest| {
        request.last_text()
    });
    let worker = ReActAgent::builder("worker").model(model).build().unwrap();
    let calls = [task("a", "worker", "first"), task("b", "worker", "second")];
    let boss = agent("boss", [uses(calls), "done".into()])
        .tool(worker.to_tool("Echoes."))
        .parallel_tools(true)
        .build()
        .unwrap();
    boss.call(go()).await.unwrap();
    assert_eq!(results(&boss), shown(&[("a", "first"), ("b", "second")]));
}

/// The id of one tool call may begin with that of another.
#[tokio::test]
async fn a_confirmation_reaches_the_agent_of_its_tool_call_alone() {
    let paid = Ran::default();
    let (first, second) =
        (payer("first", &paid, &[("p", "rent")]), payer("second", &paid, &[("p", "food")]));
    let boss = agent("boss", [uses([task("c", "first", "pay"), task("c2", "second", "pay")])])
        .tool(first.to_tool("Pays."))
        .tool(second.to_tool("Pays."))
        .parallel_tools(true)
        .build()
        .unwrap();
    let asked = boss.call(go()).await.unwrap();
    assert_eq!(ids(asked.pending()), ["c/p", "c2/p"]);
    assert_eq!(boss.memory().pending(), asked.pending());
    let asked = boss.resume(confirm("c2/p")).await.unwrap();
    assert_eq!(paid.take(), ["food"]);
    assert_eq!(ids(asked.pending()), ["c/p"]);
}

#[tokio::test]
async fn a_sub_agent_that_was_stopped_with_all_its_results_gives_an_error() {
    let worker = agent("worker", [uses([echo("e", "A")])])
        .tool(echo_tool(&Ran::default()))
        .hook(on(EventKind::PostActing, |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            Ok(event.stop())
        }))
        .build()
        .unwrap();
    let boss = agent("boss", [uses([task("c", "worker", "work")]), "done".into()]);
    let boss = boss.tool(worker.to_tool("Works.")).build().unwrap();
    boss.call(go()).await.unwrap();
    let results = results(&boss);
    assert!(results[0].1.starts_with("! "), "{results:?}");
}

#[tokio::test]
async fn a_question_of_a_sub_agent_is_no_error() {
    let (paid, told) = (Ran::default(), Ran::default());
    let noted = told.clone();
    let worker = payer("worker", &paid, &[("p", "rent")]);
    let boss = agent("boss", [uses([task("c", "worker", "pay")])])
        .tool(worker.to_tool("Pays."))
        .hook(on(EventKind::Error, move |event| {
            let HookEvent::Error(event) = event else { unreachable!() };
            noted.push(event.error().to_string());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let asked = boss.call(go()).await.unwrap();
    assert_eq!((ids(asked.pending()), told.take()), (vec!["c/p"], vec![]));
}

#[tokio::test]
async fn with_recovery_on_a_message_beside_an_answer_for_a_sub_agent_gives_nothing_up() {
    let paid = Ran::default();
    let worker = payer("worker", &paid, &[("p", "rent")]);
    let boss = agent("boss", [uses([task("c", "worker", "pay")]), "done".into()]);
    let boss = boss.tool(worker.to_tool("Pays.")).recover_pending(true).build().unwrap();
    let asked = boss.call(go()).await.unwrap();
    let before = boss.memory().messages();
    let error = boss.call([denial("c/p", "no"), Msg::user("also")]).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::PartialResults { .. })), "{error:?}");
    assert_eq!(
        (boss.memory().messages(), boss.memory().pending()),
        (before, asked.pending().to_vec())
    );
}

#[tokio::test]
async fn a_task_gives_up_what_a_restored_memory_of_the_sub_agent_left() {
    let worker = ReActAgent::builder("worker").model(script(["new work"]).0).build().unwrap();
    let left = ContentBlock::ToolUse(echo("old", "x"));
    worker.memory().replace([go(), Msg::from_blocks(Role::Assistant, "worker", vec![left])]);
    let task = ToolUse::new("1", "worker", json!({ "task": "work" }));
    let (model, _) = script([uses([task]), "done".into()]);
    let boss = ReActAgent::builder("boss").model(model).tool(worker.to_tool("Works."));
    let boss = boss.build().unwrap();
    assert_eq!(boss.call(go()).await.unwrap().text(), "done");
    assert_eq!(results(&boss), [("1".to_owned(), "new work".to_owned())]);
    assert_valid(&worker);
    assert_valid(&boss);
}
