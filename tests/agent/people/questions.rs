//! The reply, the memory and the stream list the tool calls that wait; each is answered by its id.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, poll};
use hooks_agent_core::agent::{Agent, AgentExt, CallOutcome};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::{EventKind, Flow, HookEvent};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, PendingCall, PendingReason, Role, ToolResult,
    ToolUse,
};
use hooks_agent_core::model::ScriptedAnswer;
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::round::ActingInput;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, Permission, ToolContext};
use hooks_core::{HookResult, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use serde_json::{Value, json};

type Ran = Arc<Records<String>>;

fn pay(id: &str, text: &str) -> ToolUse {
    ToolUse::new(id, "pay", json!({ "text": text }))
}

/// An agent with the tools `echo` and `pay`, which asks; and what both were given.
fn bot<A: Into<ScriptedAnswer>>(answers: impl IntoIterator<Item = A>) -> (ReActAgentBuilder, Ran) {
    let ran = Ran::default();
    let noted = ran.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |input: Value| {
        noted.push(input["text"].as_str().unwrap_or_default().to_owned());
        async { "paid" }
    })
    .permission(|_| Permission::Ask);
    let builder = ReActAgent::builder("bot").model(script(answers).0);
    (builder.tool(echo_tool(&ran)).tool(pay), ran)
}

/// Returns what waits with the tools of the agent.
fn known(agent: &ReActAgent, pending: impl IntoIterator<Item = PendingCall>) -> Vec<PendingCall> {
    let known = |mut pending: PendingCall| {
        let tool = agent.find_tool(&pending.call.name);
        pending.identity = tool.map(|tool| tool.identity().into());
        pending
    };
    pending.into_iter().map(known).collect()
}

fn confirm(id: &str) -> CallOptions {
    CallOptions::new().confirm(id)
}

fn result(id: &str, text: &str) -> Msg {
    Msg::tool_result(ToolResult::success(&echo(id, ""), text))
}

fn ids(pending: &[PendingCall]) -> Vec<&str> {
    pending.iter().map(|pending| pending.id.as_str()).collect()
}

fn shown(results: &[(&str, &str)]) -> Vec<(String, String)> {
    results.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

/// Asserts that the reply is an empty message of the agent, and that nothing waits.
fn assert_empty(reply: &Msg, reason: GenerateReason) {
    assert_eq!((reply.role, reply.name.as_str()), (Role::Assistant, "bot"));
    assert_eq!((reply.content.len(), reply.reason), (0, Some(reason)));
    assert!(reply.pending().is_empty());
}

#[tokio::test]
async fn a_stop_or_an_end_before_the_model_gives_no_answer_of_an_earlier_call() {
    for (stops, reason) in
        [(true, GenerateReason::ReasoningStopRequested), (false, GenerateReason::HookEnded)]
    {
        let (builder, _) = bot(["the earlier answer", "unreached"]);
        let rounds = AtomicUsize::new(0);
        let agent = builder
            .hook(on(EventKind::PreReasoning, move |event| {
                let HookEvent::PreReasoning(event) = event else { unreachable!() };
                Ok(match rounds.fetch_add(1, Ordering::Relaxed) {
                    0 => Flow::Continue,
                    _ if stops => event.stop(),
                    _ => event.jump_to_end(),
                })
            }))
            .build()
            .unwrap();
        assert_eq!(agent.call(go()).await.unwrap().text(), "the earlier answer");
        assert_empty(&agent.call(go()).await.unwrap(), reason);
        assert_eq!(agent.memory().messages().len(), 3);
    }
}

#[tokio::test]
async fn a_stop_before_the_second_round_claims_no_tool_call_that_has_its_result() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "unreached".into()]);
    let rounds = AtomicUsize::new(0);
    let agent = builder
        .hook(on(EventKind::PreReasoning, move |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            let is_first = rounds.fetch_add(1, Ordering::Relaxed) == 0;
            Ok(if is_first { Flow::Continue } else { event.stop() })
        }))
        .build()
        .unwrap();
    assert_empty(&agent.call(go()).await.unwrap(), GenerateReason::ReasoningStopRequested);
    assert_eq!(ran.take(), ["A", "B"]);
    assert_valid(&agent);
}

#[tokio::test]
async fn a_stop_after_reasoning_lists_every_tool_call_with_the_hook_that_stopped() {
    for at_once in [false, true] {
        let (builder, ran) = bot([uses([echo("a", "A"), pay("b", "B")]), "done".into()]);
        let agent = builder
            .parallel_tools(at_once)
            .hook(on(EventKind::PostReasoning, |event| {
                let HookEvent::PostReasoning(event) = event else { unreachable!() };
                let asks = event.message().tool_uses().next().is_some();
                Ok(if asks { event.stop() } else { Flow::Continue })
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        let waits =
            |call| PendingCall::new(call, PendingReason::Stopped).asked_by("on POST_REASONING");
        let expected = known(&agent, [waits(echo("a", "A")), waits(pay("b", "B"))]);
        assert_eq!(reply.pending(), expected);
        assert_eq!(reply.pending(), agent.memory().pending());
        let read: Msg = serde_json::from_str(&serde_json::to_string(&reply).unwrap()).unwrap();
        assert_eq!(read, reply);
        let reply = agent.resume(confirm("b")).await.unwrap();
        assert_eq!((reply.text().as_str(), ran.take().len()), ("done", 2));
        assert!(reply.pending().is_empty());
    }
}

/// What stops or asks at the second of three tool calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    StopBefore,
    StopAfter,
    Ask,
    Permission,
}

fn stopping(case: Case, at_once: bool) -> (ReActAgent, Ran) {
    let second = if case == Case::Permission { pay("b", "B") } else { echo("b", "B") };
    let (builder, ran) = bot([uses([echo("a", "A"), second, echo("c", "C")]), "done".into()]);
    let before = on(EventKind::PreActing, move |event| {
        let is_confirmed = event.context().is_confirmed("b");
        let HookEvent::PreActing(event) = event else { unreachable!() };
        Ok(match case {
            _ if event.tool_use().id != "b" => Flow::Continue,
            Case::StopBefore if !is_confirmed => event.stop(),
            Case::Ask => event.ask("is it right?"),
            _ => Flow::Continue,
        })
    });
    let after = on(EventKind::PostActing, move |event| {
        let HookEvent::PostActing(event) = event else { unreachable!() };
        let stops = case == Case::StopAfter && event.tool_use().id == "b";
        Ok(if stops { event.stop() } else { Flow::Continue })
    });
    (builder.parallel_tools(at_once).hook(before).hook(after).build().unwrap(), ran)
}

#[tokio::test]
async fn reply_memory_and_stream_agree_on_what_waits_at_a_tool_and_each_tool_runs_once() {
    for case in [Case::StopBefore, Case::StopAfter, Case::Ask, Case::Permission] {
        for at_once in [false, true] {
            let (agent, ran) = stopping(case, at_once);
            let events: Vec<_> =
                agent.stream(go()).map(|event| event.unwrap().kind).collect().await;
            let Some(AgentEventKind::Finished(reply)) = events.last() else { panic!("no reply") };

            let why = match case {
                Case::StopBefore => Some((PendingReason::Stopped, Some("on PRE_ACTING"))),
                Case::StopAfter => None,
                Case::Ask => {
                    let why = PendingReason::Permission("is it right?".to_owned());
                    Some((why, Some("on PRE_ACTING")))
                }
                Case::Permission => Some((PendingReason::Permission(String::new()), None)),
            };
            let second = if case == Case::Permission { pay("b", "B") } else { echo("b", "B") };
            let second = why.map(|(why, hook)| {
                let pending = PendingCall::new(second, why);
                hook.map_or(pending.clone(), |hook| pending.asked_by(hook))
            });
            let third = PendingCall::new(echo("c", "C"), PendingReason::NotRun);
            let third = (!at_once).then_some(third);
            let expected = known(&agent, second.into_iter().chain(third));
            assert_eq!(reply.pending(), expected, "{case:?} {at_once}");
            assert_eq!(agent.memory().pending(), expected);
            let is_question = matches!(case, Case::Ask | Case::Permission);
            let reason = if is_question {
                GenerateReason::PermissionAsking
            } else {
                GenerateReason::ActingStopRequested
            };
            assert_eq!(reply.reason, Some(reason));
            let uses: Vec<_> = reply.tool_uses().cloned().collect();
            assert_eq!(uses, expected.iter().map(|it| it.call.clone()).collect::<Vec<_>>());
            if expected.is_empty() {
                // Nothing waits: the reply is the result at which the hook stopped.
                assert_eq!(reply.tool_results().next().map(|it| it.id.as_str()), Some("b"));
            }

            let (mut asked, mut started, mut finished) = (vec![], BTreeSet::new(), vec![]);
            for event in &events {
                match event {
                    AgentEventKind::PermissionAsked(pending) => asked.push(pending.clone()),
                    AgentEventKind::ToolStarted(call) => assert!(started.insert(call.id.clone())),
                    AgentEventKind::ToolFinished(result) => finished.push(result.id.clone()),
                    _ => {}
                }
            }
            let questions = |it: &&PendingCall| matches!(it.why, PendingReason::Permission(_));
            assert_eq!(asked, expected.iter().filter(questions).cloned().collect::<Vec<_>>());
            let has_run = |id: &&str| !expected.iter().any(|pending| pending.id == **id);
            let has_run: BTreeSet<_> = ["a", "b", "c"]
                .iter()
                .filter(|id| has_run(id))
                .map(|id| (*id).to_owned())
                .collect();
            assert_eq!((&started, finished.into_iter().collect()), (&has_run, has_run.clone()));
            assert_eq!(ran.take().len(), has_run.len());

            // The same again, without a decision: nothing runs.
            if !expected.is_empty() && case != Case::StopAfter {
                let again = agent.resume(CallOptions::new()).await.unwrap();
                assert_eq!(again.pending(), expected);
                assert_eq!(ran.take(), [] as [String; 0]);
            }
            let options = if case == Case::StopAfter { CallOptions::new() } else { confirm("b") };
            let reply = agent.resume(options).await.unwrap();
            assert_eq!((reply.text().as_str(), reply.pending()), ("done", &[][..]));
            assert_eq!(ran.take().len(), expected.len());
            assert!(agent.memory().pending().is_empty());
            assert_valid(&agent);
        }
    }
}

#[tokio::test]
async fn a_stream_shows_a_tool_start_when_it_runs_with_the_input_as_hooks_left_it() {
    let calls = [
        echo("a", "raw"),
        echo("refused", "x"),
        echo("answered", "x"),
        ToolUse::new("unknown", "nothing", json!({})),
        ToolUse::invalid("invalid", "echo", "{"),
        echo("denied", "x"),
    ];
    let (builder, ran) = bot([uses(calls), "done".into()]);
    let agent = builder
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            Ok(match event.tool_use().id.as_str() {
                "a" => {
                    event.tool_use_mut().input = json!({ "text": "changed" });
                    Flow::Continue
                }
                "refused" => event.refuse("no"),
                "answered" => event.answer("known"),
                _ => Flow::Continue,
            })
        }))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::POST_CHECK_PERMISSION,
        "deny",
        hook!(ReActAgent::POST_CHECK_PERMISSION, async |_, args, permission| {
            if args.call.id == "denied" {
                *permission = Permission::Deny("no".to_owned());
            }
        }),
    );
    let events: Vec<_> = agent.stream(go()).map(|event| event.unwrap().kind).collect().await;
    let started = events.iter().filter_map(|event| match event {
        AgentEventKind::ToolStarted(call) => Some(call.clone()),
        _ => None,
    });
    assert_eq!(started.collect::<Vec<_>>(), [echo("a", "changed")]);
    let finished = events.iter().filter_map(|event| match event {
        AgentEventKind::ToolFinished(result) => Some(result.id.as_str()),
        _ => None,
    });
    let all = ["a", "refused", "answered", "unknown", "invalid", "denied"];
    assert_eq!(finished.collect::<Vec<_>>(), all);
    assert_eq!(ran.take(), ["changed"]);
}

#[tokio::test]
async fn confirmations_of_what_does_not_wait_are_refused_and_change_nothing() {
    let (builder, ran) = bot([uses([pay("a", "A"), pay("b", "B")]), "done".into()]);
    let agent = builder.build().unwrap();
    let unknown = async |options: CallOptions, messages: Messages| match agent
        .call_with(options, messages)
        .await
        .unwrap_err()
    {
        AgentError::Input(InputError::UnknownConfirmations { ids, expected }) => (ids, expected),
        other => panic!("{other:?}"),
    };
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(unknown(confirm("a"), go().into()).await, (owned(&["a"]), vec![]));
    assert!(agent.memory().messages().is_empty());
    agent.call(go()).await.unwrap();
    let (before, pending) = (agent.memory().messages(), agent.memory().pending());
    for (options, messages) in [
        (confirm("nope"), Messages::new()),
        (confirm("a").confirm("nope"), Messages::new()),
        (confirm("nope"), result("a", "by hand").into()),
    ] {
        let expected = (owned(&["nope"]), owned(&["a", "b"]));
        assert_eq!(unknown(options, messages).await, expected);
        assert_eq!(
            (agent.memory().messages(), agent.memory().pending()),
            (before.clone(), pending.clone())
        );
    }
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(agent.resume(confirm("a").confirm("b")).await.unwrap().text(), "done");
    assert_eq!(ran.take(), ["A", "B"]);
}

#[tokio::test]
async fn a_confirmation_names_the_call_of_the_model_whatever_hooks_make_of_it() {
    for way in 0..3 {
        for asks in [false, true] {
            let (builder, ran) = bot([uses([pay("a", "A")]), "done".into()]);
            let mut builder = builder.hook(on(EventKind::PreActing, move |event| {
                let HookEvent::PreActing(event) = event else { unreachable!() };
                match way {
                    0 => "other".clone_into(&mut event.tool_use_mut().id),
                    1 => event.set_tool_use(pay("other", "replaced")),
                    _ => {}
                }
                Ok(Flow::Continue)
            }));
            if asks {
                builder = builder.hook(on(EventKind::PreActing, |event| {
                    let HookEvent::PreActing(event) = event else { unreachable!() };
                    Ok(event.ask("sure?"))
                }));
            }
            let agent = builder.build().unwrap();
            if way == 2 {
                agent.register_instance_hook(
                    ReActAgent::PRE_ACTING,
                    "replaces",
                    hook!(ReActAgent::PRE_ACTING, async |_, args| {
                        args.input.call = pay("another", "replaced").into();
                    }),
                );
            }
            let asked = agent.call(go()).await.unwrap();
            assert_eq!((ids(asked.pending()), ran.take()), (vec!["a"], vec![]), "{way} {asks}");
            assert_eq!(asked.pending(), agent.memory().pending());
            let shown = asked.pending()[0].call.input["text"].as_str().unwrap().to_owned();
            assert_eq!(agent.resume(confirm("a")).await.unwrap().text(), "done");
            // What was shown is what ran.
            assert_eq!(ran.take(), [shown]);
            assert_eq!(results(&agent), self::shown(&[("a", "paid")]));
        }
    }
}

#[tokio::test]
async fn a_hook_that_swaps_the_whole_input_of_a_tool_call_does_not_hide_its_question() {
    let (builder, ran) = bot([uses([pay("a", "A")]), "done".into()]);
    let agent = builder.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_ACTING,
        "swaps",
        hook!(ReActAgent::AROUND_ACTING, async |_, mut args, next| {
            args.input = ActingInput::new(pay("other", "swapped"));
            next.run(args).await
        }),
    );
    let asked = agent.call(go()).await.unwrap();
    assert_eq!((ids(asked.pending()), ran.take()), (vec!["a"], vec![]));
    assert_eq!(asked.pending(), agent.memory().pending());
}

#[tokio::test]
async fn a_result_instead_of_a_confirmation_answers_without_running() {
    for at_once in [false, true] {
        let calls = [pay("a", "A"), pay("b", "B")];
        let (builder, ran) = bot([uses(calls), "done".into()]);
        let agent = builder.parallel_tools(at_once).build().unwrap();
        agent.call(go()).await.unwrap();
        let reply = agent.call_with(confirm("b"), result("a", "by hand")).await.unwrap();
        assert_eq!((reply.text().as_str(), ran.take()), ("done", vec!["B".to_owned()]));
        assert_eq!(results(&agent), shown(&[("a", "by hand"), ("b", "paid")]));
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_confirmation_that_came_with_its_answer_lets_no_later_call_of_that_id_run() {
    for recovers in [false, true] {
        let (builder, ran) = bot([uses([pay("a", "A")]), uses([pay("a", "again")])]);
        let agent = builder.recover_pending(recovers).build().unwrap();
        agent.call(go()).await.unwrap();
        let message = if recovers { go() } else { result("a", "by hand") };
        let reply = agent.call_with(confirm("a"), message).await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        assert_eq!((ids(reply.pending()), ran.take()), (vec!["a"], vec![]));
    }
}

#[tokio::test]
async fn of_several_questions_each_is_answered_alone() {
    for at_once in [false, true] {
        let calls = [pay("a", "A"), pay("b", "B"), pay("c", "C")];
        let (builder, ran) = bot([uses(calls), "done".into()]);
        let agent = builder.parallel_tools(at_once).build().unwrap();
        assert_eq!(ids(agent.call(go()).await.unwrap().pending()), ["a", "b", "c"]);
        // In turn, `b` has no turn before `a` is answered.
        let reply = agent.resume(confirm("b")).await.unwrap();
        let (waits, has_run) = if at_once { (vec!["a", "c"], 1) } else { (vec!["a", "b", "c"], 0) };
        assert_eq!((ids(reply.pending()), ran.take().len()), (waits, has_run));
        let rest = confirm("a").confirm("c");
        let reply = agent.resume(if at_once { rest } else { rest.confirm("b") }).await.unwrap();
        assert_eq!((reply.text().as_str(), ran.take().len()), ("done", 3 - has_run));
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_reply_that_a_hook_replaced_lists_what_waits() {
    let (builder, _) = bot([uses([echo("a", "A"), pay("b", "B"), echo("c", "C")])]);
    let agent = builder
        .hook(on(EventKind::PostCall, |event| {
            let HookEvent::PostCall(event) = event else { unreachable!() };
            event.set_final_message(Msg::assistant("bot", "please confirm"));
            event.set_final_message(Msg::assistant("bot", "please, do confirm"));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.text(), "please, do confirm");
    assert_eq!(
        (ids(reply.pending()), reply.reason),
        (vec!["b", "c"], Some(GenerateReason::PermissionAsking))
    );
    assert_eq!(reply.pending(), agent.memory().pending());
}

#[tokio::test]
async fn a_hook_that_answers_settles_the_question_of_an_earlier_hook() {
    for at_once in [false, true] {
        let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
        let agent = builder
            .parallel_tools(at_once)
            .hook(on(EventKind::PreActing, |event| {
                let HookEvent::PreActing(event) = event else { unreachable!() };
                Ok(if event.tool_use().id == "a" { event.ask("sure?") } else { Flow::Continue })
            }))
            .hook(on(EventKind::PreActing, |event| {
                let HookEvent::PreActing(event) = event else { unreachable!() };
                Ok(if event.control().asks_permission() {
                    event.refuse("no")
                } else {
                    Flow::Continue
                })
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(
            (reply.text().as_str(), reply.reason),
            ("done", Some(GenerateReason::ModelStop))
        );
        assert_eq!(
            (ran.take(), results(&agent)),
            (vec!["B".to_owned()], shown(&[("a", "! no"), ("b", "B")]))
        );
    }
}

#[tokio::test]
async fn a_call_that_fails_or_ends_after_its_question_leaves_nothing_waiting() {
    // A hook of the reply fails.
    let (builder, ran) = bot([uses([echo("a", "A"), pay("b", "B")]), "next".into()]);
    let fails = AtomicUsize::new(0);
    let agent = builder
        .hook(on(EventKind::PostCall, move |_| match fails.fetch_add(1, Ordering::Relaxed) {
            0 => Err("as told".into()),
            _ => Ok(Flow::Continue),
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap_err();
    assert_valid(&agent);
    assert!(agent.memory().pending().is_empty());
    assert_eq!(agent.call(go()).await.unwrap().text(), "next");
    assert_eq!(ran.take(), ["A"]);

    // The stream is dropped at the question.
    let (builder, ran) = bot([uses([pay("b", "B")]), "next".into()]);
    let ends = Arc::new(Records::new());
    let noted = ends.clone();
    let agent = builder
        .hook(on(EventKind::Settled, move |event| {
            let HookEvent::Settled(event) = event else { unreachable!() };
            noted.push(event.outcome().clone());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let mut stream = agent.stream(go());
    while !matches!(stream.next().await.unwrap().unwrap().kind, AgentEventKind::PermissionAsked(_))
    {
    }
    drop(stream);
    assert_eq!(ends.take(), [CallOutcome::Cancelled]);
    assert_valid(&agent);
    assert!(agent.memory().pending().is_empty());
    assert_eq!(agent.call(go()).await.unwrap().text(), "next");
    assert_eq!(ran.take(), [] as [String; 0]);
}

#[tokio::test]
async fn a_call_that_is_dropped_at_a_confirmed_tool_does_not_run_it_again() {
    for at_once in [false, true] {
        let started = Arc::new(Records::<()>::new());
        let noted = started.clone();
        let slow = FunctionTool::new("slow", "Waits.", move |_: Value| {
            noted.push(());
            std::future::pending::<String>()
        })
        .permission(|_| Permission::Ask);
        let (builder, _) =
            bot([uses([ToolUse::new("s", "slow", json!({})), echo("e", "E")]), "next".into()]);
        let agent = builder.tool(slow).parallel_tools(at_once).build().unwrap();
        agent.call(go()).await.unwrap();
        {
            let mut call = pin!(agent.resume(confirm("s")));
            assert!(poll!(&mut call).is_pending());
        }
        assert_valid(&agent);
        assert_eq!(agent.resume(CallOptions::new()).await.unwrap().text(), "next");
        assert_eq!(started.take().len(), 1);
    }
}

/// The tool is no sub-agent: it gets the reply and decides what becomes of the question.
#[tokio::test]
async fn a_question_of_a_call_that_a_tool_makes_itself_is_in_the_stream_of_that_call() {
    let (builder, _) = bot([uses([pay("p", "rent")])]);
    let inner = Arc::new(builder.build().unwrap());
    let relay = FunctionTool::with_context("relay", "Asks.", move |_: Value, cx: ToolContext| {
        let inner = inner.clone();
        async move {
            let options = CallOptions::new().child_of(cx.call());
            let reply = inner.call_with(options, go()).await?;
            Ok::<_, AgentError>(format!("waits: {}", ids(reply.pending()).join(", ")))
        }
    });
    let (model, _) = script([uses([ToolUse::new("r", "relay", json!({}))]), "done".into()]);
    let outer = ReActAgent::builder("outer").model(model).tool(relay).build().unwrap();
    let events: Vec<_> = outer.stream(go()).map(Result::unwrap).collect().await;
    let asked = events.iter().filter_map(|event| match &event.kind {
        AgentEventKind::PermissionAsked(pending) => Some((&*event.agent, pending.id.as_str())),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), [("bot", "p")]);
    assert_eq!(results(&outer), shown(&[("r", "waits: p")]));
}

#[tokio::test]
async fn what_a_stopped_call_left_is_told_by_the_memory_of_its_thread_alone() {
    let (builder, _) = bot([uses([pay("a", "A")]), "other".into()]);
    let agent = builder.build().unwrap();
    let asked = agent.call_with(CallOptions::new().thread("t"), go()).await.unwrap();
    assert_eq!(agent.threads().memory("t").unwrap().pending(), asked.pending());
    assert!(agent.memory().pending().is_empty());
    let error = agent.call_with(confirm("a"), go()).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::UnknownConfirmations { .. })));
    assert_eq!(agent.call(go()).await.unwrap().text(), "other");
}

#[tokio::test]
async fn a_message_whose_tool_call_waits_keeps_its_text_in_the_reply() {
    let blocks = [
        ContentBlock::text("Let me pay."),
        ContentBlock::ToolUse(echo("e", "E")),
        ContentBlock::ToolUse(pay("a", "A")),
    ];
    let (builder, _) = bot([ScriptedAnswer::from(blocks.to_vec())]);
    let agent = builder.build().unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.content, [blocks[0].clone(), blocks[2].clone()]);
    // Memory has the whole answer.
    assert_eq!(agent.memory().messages()[1].content, blocks);
}

#[tokio::test]
async fn a_hook_of_a_method_that_stops_without_a_name_is_told_as_a_stop() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "stops",
        hook!(ReActAgent::PRE_ACTING, async |_, args| -> HookResult {
            if !args.cx.is_confirmed(&args.input.call.id) {
                args.input.control.stop();
            }
            Ok(())
        }),
    );
    let reply = agent.call(go()).await.unwrap();
    let expected = [
        PendingCall::new(echo("a", "A"), PendingReason::Stopped),
        PendingCall::new(echo("b", "B"), PendingReason::NotRun),
    ];
    let expected = known(&agent, expected);
    assert_eq!((reply.pending(), agent.memory().pending()), (&expected[..], expected.clone()));
    let reply = agent.resume(confirm("a").confirm("b")).await.unwrap();
    assert_eq!((reply.text().as_str(), ran.take().len()), ("done", 2));
}

#[tokio::test]
async fn what_another_agent_says_meanwhile_does_not_take_the_place_of_what_waits() {
    let (builder, _) = bot([uses([pay("a", "rent")])]);
    let agent = builder.build().unwrap();
    agent.call(go()).await.unwrap();
    let heard = Msg::assistant("other", "hello");
    hooks_agent_core::agent::Agent::observe(&agent, agent.context(CallOptions::new()), heard)
        .await
        .unwrap();
    let asked = agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(asked.tool_uses().map(|call| &*call.id).collect::<Vec<_>>(), ["a"]);
    assert_eq!(ids(asked.pending()), ["a"]);
}

#[tokio::test]
async fn a_pending_call_has_the_id_of_the_model_also_inside() {
    let (builder, _) = bot([uses([echo("a", "A")])]);
    let agent = builder
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            event.set_tool_use(echo("other", "B"));
            Ok(event.stop())
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    let pending = &reply.pending()[0];
    assert_eq!((&*pending.id, &*pending.call.id), ("a", "a"));
}

#[tokio::test]
async fn a_question_is_forgotten_with_the_messages_that_are_replaced() {
    let (builder, _) = bot([uses([pay("a", "rent")])]);
    let agent = builder.build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(agent.memory().pending()[0].why, PendingReason::Permission(String::new()));
    agent.memory().replace(agent.memory().messages());
    assert_eq!(agent.memory().pending()[0].why, PendingReason::NotRun);
}

#[tokio::test]
async fn an_answered_question_is_not_told_of_a_later_call_of_that_id() {
    let (builder, _) = bot([uses([pay("a", "rent")]), uses([echo("a", "A")]), "done".into()]);
    let agent = Arc::new(builder.build().unwrap());
    let why = Arc::new(Records::new());
    let (weak, noted) = (Arc::downgrade(&agent), why.clone());
    agent.register_agent_hook(on(EventKind::PreActing, move |event| {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        if event.tool_use().name == "echo" {
            let pending = weak.upgrade().unwrap().memory().pending();
            noted.push(pending[0].why.clone());
        }
        Ok(Flow::Continue)
    }));
    agent.call(go()).await.unwrap();
    assert_eq!(agent.call(result("a", "paid by hand")).await.unwrap().text(), "done");
    assert_eq!(why.take(), [PendingReason::NotRun]);
}

#[tokio::test]
async fn a_tool_call_waits_though_an_earlier_one_of_its_id_has_a_result() {
    let (builder, ran) = bot([uses([echo("a", "A")]), uses([pay("a", "rent")]), "done".into()]);
    let agent = builder.build().unwrap();
    let asked = agent.call(go()).await.unwrap();
    assert_eq!(ids(asked.pending()), ["a"]);
    assert_eq!(agent.memory().pending(), asked.pending());
    assert_eq!(agent.resume(confirm("a")).await.unwrap().text(), "done");
    assert_eq!(ran.take(), ["A", "rent"]);
}

#[tokio::test]
async fn a_block_in_a_message_of_the_wrong_role_is_refused_and_changes_nothing() {
    let (builder, _) = bot([uses([pay("a", "rent"), pay("b", "food")])]);
    let agent = builder.build().unwrap();
    let call = ContentBlock::ToolUse(echo("z", "Z"));
    let input = [Msg::from_blocks(Role::User, "user", vec![call]), result("z", "Z")];
    let error = agent.call(input).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::MisplacedBlock { .. })), "{error:?}");
    assert_eq!(agent.memory().messages().len(), 0);

    agent.call(go()).await.unwrap();
    let before = agent.memory().messages();
    let given = ContentBlock::ToolResult(ToolResult::success(&pay("a", ""), "paid"));
    let input = Msg::from_blocks(Role::Assistant, "bot", vec![given]);
    let error = agent.call(input).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::MisplacedBlock { .. })), "{error:?}");
    assert_eq!(agent.memory().messages(), before);
}
