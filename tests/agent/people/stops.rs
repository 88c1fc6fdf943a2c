//! A hook gives control back to the caller, sends the call elsewhere, or answers in its place; and
//! the next call goes on where it stopped (vectors JS).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::{EventKind, Flow, HookEvent, PreReasoning};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses,
};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::{FunctionTool, Permission};
use hooks_core::HookResult;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use serde_json::{Value, json};

type Ran = Arc<Records<String>>;

/// An agent with the tool `echo`, and what the tool was given.
fn bot<A: Into<hooks_agent_core::model::ScriptedAnswer>>(
    answers: impl IntoIterator<Item = A>,
) -> (ReActAgentBuilder, Ran) {
    let ran = Ran::default();
    let (model, _) = script(answers);
    (ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)), ran)
}

fn stop_after_reasoning(event: &mut HookEvent<'_>) -> HookResult<Flow> {
    let HookEvent::PostReasoning(event) = event else { unreachable!() };
    Ok(event.stop())
}

/// What a hook does before the model is asked.
type React = fn(&mut PreReasoning<'_>) -> Flow;

/// Stops the first time only.
fn stop_once() -> impl Fn(&mut HookEvent<'_>) -> HookResult<Flow> + Send + Sync + 'static {
    let count = AtomicUsize::new(0);
    move |event| match count.fetch_add(1, Ordering::Relaxed) {
        0 => stop_after_reasoning(event),
        _ => Ok(Flow::Continue),
    }
}

fn result(id: &str, text: &str) -> Msg {
    Msg::tool_result(ToolResult::success(&echo(id, ""), text))
}

/// JS-06, JS-07, JS-14.
#[tokio::test]
async fn a_stop_after_reasoning_gives_the_tool_calls_to_the_caller() {
    let (builder, ran) = bot([uses([echo("tool1", "test")]), "unreached".into()]);
    let agent = builder.hook(on(EventKind::PostReasoning, stop_after_reasoning)).build().unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.tool_uses().next().unwrap().id, "tool1");
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(unanswered_tool_uses(&agent.memory().messages()).len(), 1);
}

/// JS-08.
#[tokio::test]
async fn a_call_without_messages_runs_the_tools_that_wait() {
    let (builder, ran) = bot([uses([echo("tool1", "test")]), "Done!".into()]);
    let agent = builder.hook(on(EventKind::PostReasoning, stop_once())).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(ran.take(), [] as [String; 0]);
    let reply = agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(ran.take(), ["test"]);
    assert_eq!((reply.text().as_str(), reply.tool_uses().count()), ("Done!", 0));
    assert_valid(&agent);
}

/// JS-09.
#[tokio::test]
async fn results_of_the_caller_answer_the_calls_that_wait() {
    let (builder, ran) = bot([uses([echo("tool1", "test")]), "Processed result".into()]);
    let agent = builder.hook(on(EventKind::PostReasoning, stop_after_reasoning)).build().unwrap();
    agent.call(go()).await.unwrap();
    let reply = agent.call(result("tool1", "manual result")).await.unwrap();
    assert_eq!(reply.text(), "Processed result");
    // Stopped once more, with text alone.
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(results(&agent), [("tool1".to_owned(), "manual result".to_owned())]);
}

/// JS-10, JS-16.
#[tokio::test]
async fn with_recovery_on_a_message_gives_the_calls_up_that_wait() {
    let ran = Ran::default();
    let (model, requests) = script([uses([echo("tool1", "test")]), "Recovered".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&ran))
        .recover_pending(true)
        .hook(on(EventKind::PostReasoning, stop_after_reasoning))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    let reply = agent.call(Msg::user("something else")).await.unwrap();
    assert_eq!(reply.text(), "Recovered");
    assert_eq!(requests.take().len(), 2);
    let [(id, output)] = &results(&agent)[..] else { panic!("one result") };
    assert!(id == "tool1" && output.contains("[ERROR]"), "{output}");
    assert_valid(&agent);
}

/// JS-11.
#[tokio::test]
async fn a_hook_may_stop_for_some_tools_alone() {
    let stop_if_dangerous = |event: &mut HookEvent<'_>| {
        let HookEvent::PostReasoning(event) = event else { unreachable!() };
        let is_dangerous = |call: &ToolUse| call.name.contains("dangerous");
        Ok(if event.message().tool_uses().any(is_dangerous) {
            event.stop()
        } else {
            Flow::Continue
        })
    };
    let dangerous = ToolUse::new("2", "dangerous_tool", json!({}));
    let (builder, ran) = bot([uses([echo("1", "safe")]), uses([dangerous])]);
    let agent = builder.hook(on(EventKind::PostReasoning, stop_if_dangerous)).build().unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.tool_uses().next().unwrap().name, "dangerous_tool");
    assert_eq!(ran.take(), ["safe"]);
}

/// JS-03, JS-15.
#[tokio::test]
async fn nothing_stops_unasked_and_to_stop_twice_is_to_stop() {
    let (builder, _) = bot(["one", "two"]);
    let agent = builder.build().unwrap();
    for text in ["one", "two"] {
        let reply = agent.call(go()).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.reason), (text, Some(GenerateReason::ModelStop)));
    }
    let (builder, _) = bot(["one"]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, stop_after_reasoning))
        .hook(on(EventKind::PostReasoning, stop_after_reasoning))
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            assert!(event.control().is_stopped());
            Ok(event.stop())
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
}

/// The first row of the table, and those that fail.
#[tokio::test]
async fn messages_that_do_not_answer_the_calls_that_wait_are_refused_and_nothing_is_remembered() {
    let answers = || [uses([echo("a", "A"), echo("b", "B")]), "done".into()];
    let (builder, ran) = bot(answers());
    let agent = builder.hook(on(EventKind::PostReasoning, stop_once())).build().unwrap();
    agent.call(go()).await.unwrap();
    let before = agent.memory().messages();
    let refused = async |messages: Messages| match agent.call(messages).await {
        Err(AgentError::Input(error)) => error,
        other => panic!("{other:?}"),
    };
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(refused(go().into()).await, InputError::MissingResults { ids: ids(&["a", "b"]) });
    assert_eq!(
        refused([result("a", "x"), go()].into()).await,
        InputError::PartialResults { ids: ids(&["b"]) },
    );
    assert_eq!(
        refused([result("a", "x"), result("a", "y")].into()).await,
        InputError::DuplicateResult { id: "a".to_owned() },
    );
    assert_eq!(
        refused(result("c", "x").into()).await,
        InputError::UnknownResults { ids: ids(&["c"]), expected: ids(&["a", "b"]) },
    );
    assert_eq!(agent.memory().messages(), before);

    // Some results: the other tools run.
    let reply = agent.call(result("b", "by hand")).await.unwrap();
    assert_eq!((reply.text().as_str(), ran.take()), ("done", vec!["A".to_owned()]));
    let expected =
        [("a", "A"), ("b", "by hand")].map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(results(&agent), expected);
    assert_valid(&agent);

    // Nothing waits: a result answers nothing.
    assert_eq!(
        refused(result("z", "x").into()).await,
        InputError::UnknownResults { ids: ids(&["z"]), expected: Vec::new() },
    );
}

#[tokio::test]
async fn results_of_all_calls_may_come_with_more() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder.hook(on(EventKind::PostReasoning, stop_once())).build().unwrap();
    agent.call(go()).await.unwrap();
    let reply = agent.call([result("a", "x"), result("b", "y"), Msg::user("and?")]).await.unwrap();
    assert_eq!((reply.text().as_str(), ran.take()), ("done", Vec::new()));
    assert_valid(&agent);
}

#[tokio::test]
async fn a_stop_at_a_tool_leaves_the_tools_behind_it_to_wait() {
    for (kind, ran_first) in
        [(EventKind::PreActing, vec!["A"]), (EventKind::PostActing, vec!["A", "B"])]
    {
        let (builder, ran) =
            bot([uses([echo("a", "A"), echo("b", "B"), echo("c", "C")]), "done".into()]);
        let count = AtomicUsize::new(0);
        let later = Arc::new(Records::<&str>::new());
        let noted = later.clone();
        let agent = builder
            .hook(on(kind, move |event| {
                let stops = count.fetch_add(1, Ordering::Relaxed) == 1;
                Ok(match event {
                    HookEvent::PreActing(event) if stops => event.stop(),
                    HookEvent::PostActing(event) if stops => event.stop(),
                    _ => Flow::Continue,
                })
            }))
            // Later hooks of the same event run all the same, and a stop beats a jump.
            .hook(on(kind, move |event| {
                noted.push("later");
                Ok(match event {
                    HookEvent::PreActing(event) if event.control().is_stopped() => {
                        event.jump_to_end()
                    }
                    HookEvent::PostActing(event) if event.control().is_stopped() => {
                        event.jump_to_end()
                    }
                    _ => Flow::Continue,
                })
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
        // The reply has the tool calls that wait, and no others.
        assert_eq!(reply.role, Role::Assistant);
        let waiting = &["b", "c"][ran_first.len() - 1..];
        assert!(reply.tool_uses().map(|call| call.id.as_str()).eq(waiting.iter().copied()));
        assert!(reply.pending().iter().map(|it| it.id.as_str()).eq(waiting.iter().copied()));
        assert_eq!(ran.take(), ran_first);
        assert_eq!(later.take().len(), 2);
        assert_eq!(agent.resume(CallOptions::new()).await.unwrap().text(), "done");
        assert_eq!(results(&agent).len(), 3);
        assert_valid(&agent);
    }
}

/// The original asked the last tool of a batch alone.
#[tokio::test]
async fn a_stop_of_any_tool_of_a_parallel_batch_counts() {
    let (builder, ran) =
        bot([uses([echo("a", "A"), echo("b", "B"), echo("c", "C")]), "done".into()]);
    let agent = builder
        .parallel_tools(true)
        .hook(on(EventKind::PostActing, |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            Ok(if event.tool_use().id == "a" { event.stop() } else { Flow::Continue })
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
    assert_eq!(ran.take().len(), 3);
    assert_valid(&agent);
    assert_eq!(agent.resume(CallOptions::new()).await.unwrap().text(), "done");
}

#[tokio::test]
async fn a_hook_may_send_the_call_back_to_the_model() {
    let ran = Ran::default();
    let (model, requests) = script(["too short", "long enough"]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&ran))
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            if event.message().text() == "too short" {
                return Ok(event.jump_to_model(Msg::user("longer, please"))?);
            }
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "long enough");
    let texts: Vec<_> =
        requests.take()[1].messages.iter().map(hooks_agent_core::message::Msg::text).collect();
    assert_eq!(texts, ["go", "too short", "longer, please"]);
}

#[tokio::test]
async fn a_jump_to_the_model_answers_the_calls_that_wait_or_is_refused() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            if event.message().tool_uses().next().is_none() {
                return Ok(Flow::Continue);
            }
            let error = event.jump_to_model(result("a", "no")).unwrap_err();
            assert_eq!(error, InputError::MissingResults { ids: vec!["b".to_owned()] });
            Ok(event.jump_to_model([result("a", "no"), result("b", "neither")])?)
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(ran.take(), [] as [String; 0]);
    let expected =
        [("a", "no"), ("b", "neither")].map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(results(&agent), expected);
}

#[tokio::test]
async fn hooks_cannot_send_a_call_back_forever() {
    let (model, requests) = script(["no"; 20]);
    let back = |event: &mut HookEvent<'_>| {
        let HookEvent::PostReasoning(event) = event else { unreachable!() };
        Ok(event.jump_to_model(Messages::new())?)
    };
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::PostReasoning, back))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::TooManyJumps { limit: 3 }), "{error:?}");
    assert_eq!(requests.take().len(), 4);

    // They count as rounds too.
    let (model, requests) = script(["no"; 20]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .max_jumps(100)
        .max_iters(5)
        .hook(on(EventKind::PostReasoning, back))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
    assert_eq!(requests.take().len(), 6);
}

#[tokio::test]
async fn a_jump_to_the_end_answers_the_calls_that_wait() {
    for kind in [EventKind::PostReasoning, EventKind::PreActing, EventKind::PostActing] {
        let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "unreached".into()]);
        let agent = builder
            .hook(on(kind, |event| {
                Ok(match event {
                    HookEvent::PostReasoning(event) => event.jump_to_end(),
                    HookEvent::PreActing(event) => event.jump_to_end(),
                    HookEvent::PostActing(event) => event.jump_to_end(),
                    _ => unreachable!(),
                })
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::HookEnded), "{kind}");
        assert_eq!(ran.take().len(), usize::from(kind == EventKind::PostActing));
        assert_eq!(results(&agent).len(), 2);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_jump_from_a_tool_goes_back_to_the_model() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            Ok(event.jump_to_model())
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(results(&agent).len(), 2);
    assert_valid(&agent);
}

#[tokio::test]
async fn before_the_model_a_hook_may_stop_end_run_tools_or_answer() {
    let at = |react: React| {
        on(EventKind::PreReasoning, move |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            Ok(react(event))
        })
    };
    let cases: [(React, &str, GenerateReason, usize); 3] = [
        (|event| event.stop(), "", GenerateReason::ReasoningStopRequested, 0),
        (|event| event.jump_to_end(), "", GenerateReason::HookEnded, 0),
        (
            |event| event.answer(Msg::assistant("hook", "by a hook")),
            "by a hook",
            GenerateReason::ModelStop,
            0,
        ),
    ];
    for (react, text, reason, requested) in cases {
        let (model, requests) = script(["by the model"]);
        let agent = ReActAgent::builder("bot").model(model).hook(at(react)).build().unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.reason), (text, Some(reason)));
        assert_eq!(requests.take().len(), requested);
    }
    // There is nothing to run, so the model is asked in the next round.
    let count = AtomicUsize::new(0);
    let (model, requests) = script(["by the model"]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::PreReasoning, move |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            Ok(if is_first { event.jump_to_tools() } else { Flow::Continue })
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "by the model");
    assert_eq!(requests.take().len(), 1);
}

#[tokio::test]
async fn a_hook_may_answer_for_the_call_a_tool_and_the_summary() {
    let (builder, _) = bot(["unreached"]);
    let agent = builder
        .hook(on(EventKind::PreCall, |event| {
            let HookEvent::PreCall(event) = event else { unreachable!() };
            Ok(event.answer(Msg::assistant("cache", "known")))
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.reason),
        ("known", Some(GenerateReason::HookAnswered))
    );
    assert!(agent.memory().messages().is_empty());

    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")])]);
    let agent = builder
        .max_iters(1)
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            Ok(if event.tool_use().id == "a" {
                event.refuse("not this one")
            } else {
                Flow::Continue
            })
        }))
        .hook(on(EventKind::PreSummary, |event| {
            let HookEvent::PreSummary(event) = event else { unreachable!() };
            Ok(event.answer(Msg::assistant("hook", "enough")))
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.reason),
        ("enough", Some(GenerateReason::MaxIterations))
    );
    assert_eq!(ran.take(), ["B"]);
    let expected = [("a", "! not this one"), ("b", "B")];
    assert_eq!(results(&agent), expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
}

#[tokio::test]
async fn a_flow_that_another_event_made_fails_the_call() {
    let kept: Arc<std::sync::Mutex<Option<Flow>>> = Arc::default();
    let (keep, give) = (kept.clone(), kept);
    let (builder, _) = bot(["done"]);
    let agent = builder
        .hook(on(EventKind::PreReasoning, move |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            *keep.lock().unwrap() = Some(event.stop());
            Ok(Flow::Continue)
        }))
        .hook(on(EventKind::PostCall, move |_| Ok(give.lock().unwrap().take().unwrap_or_default())))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "the flow returned at POST_CALL was made by another event");
}

#[tokio::test]
async fn a_tool_that_needs_permission_waits_for_a_person() {
    let ran = Ran::default();
    let noted = ran.clone();
    let delete = FunctionTool::new("delete", "Deletes.", move |input: Value| {
        noted.push(input["path"].as_str().unwrap_or_default().to_owned());
        async { "deleted" }
    })
    .permission(|call| match call.input["path"].as_str() {
        Some("/tmp") => Permission::Allow,
        Some("/") => Permission::Deny("never the root".to_owned()),
        _ => Permission::Ask,
    });
    let delete_call = |id: &str, path: &str| ToolUse::new(id, "delete", json!({ "path": path }));
    let calls = [
        delete_call("a", "/tmp"),
        delete_call("b", "/"),
        delete_call("c", "/home"),
        delete_call("d", "/tmp"),
    ];
    let (model, _) = script([uses(calls), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(delete).build().unwrap();

    let asked = agent.call(go()).await.unwrap();
    assert_eq!(asked.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!(ran.take(), ["/tmp"]);
    let waiting = unanswered_tool_uses(&agent.memory().messages());
    assert_eq!(waiting.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["c", "d"]);
    // Without an answer it asks again.
    let again = agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(again.reason, Some(GenerateReason::PermissionAsking));
    let reply = agent.resume(CallOptions::new().confirm("c")).await.unwrap();
    assert_eq!(
        (reply.text().as_str(), ran.take()),
        ("done", vec!["/home".to_owned(), "/tmp".to_owned()])
    );
    assert_eq!(results(&agent)[1].1, "! never the root");
    assert_valid(&agent);
}

/// The original looked tool calls up by the name of the message.
#[tokio::test]
async fn tools_run_whatever_name_a_hook_gives_the_message() {
    let (builder, ran) = bot([uses([echo("a", "A")]), "done".into()]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            let content: Vec<ContentBlock> = event.message().content.clone();
            event.set_message(Msg::from_blocks(Role::Assistant, "somebody else", content));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(ran.take(), ["A"]);
}

#[tokio::test]
async fn a_reply_that_a_hook_replaced_says_all_the_same_why_the_call_ended() {
    let (builder, _) = bot([uses([echo("a", "A")])]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, stop_after_reasoning))
        .hook(on(EventKind::PostCall, |event| {
            let HookEvent::PostCall(event) = event else { unreachable!() };
            event.set_final_message(Msg::assistant("bot", "please confirm"));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
    assert_eq!(unanswered_tool_uses(&agent.memory().messages()).len(), 1);
}

#[tokio::test]
async fn what_a_person_confirmed_is_good_for_that_call_alone() {
    let ran = Ran::default();
    let noted = ran.clone();
    let remove = FunctionTool::new("remove", "Removes.", move |input: Value| {
        noted.push(input["path"].as_str().unwrap_or_default().to_owned());
        async { "removed" }
    })
    .permission(|_| Permission::Ask);
    let call = |path: &str| ToolUse::new("1", "remove", json!({ "path": path }));
    let (model, _) = script([call("/tmp/a"), call("/etc")]);
    let agent = ReActAgent::builder("bot").model(model).tool(remove).build().unwrap();
    agent.call(go()).await.unwrap();
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!(ran.take(), ["/tmp/a"]);
}

#[tokio::test]
async fn what_is_observed_meanwhile_does_not_hide_the_calls_that_wait() {
    let (builder, ran) = bot([uses([echo("a", "A")]), "done".into()]);
    let agent = builder.hook(on(EventKind::PostReasoning, stop_once())).build().unwrap();
    agent.call(go()).await.unwrap();
    let cx = agent.context(CallOptions::new());
    agent.observe(cx, Msg::assistant("somebody", "news")).await.unwrap();
    assert_eq!(agent.resume(CallOptions::new()).await.unwrap().text(), "done");
    assert_eq!(ran.take(), ["A"]);
    assert_valid(&agent);
}

#[tokio::test]
async fn a_jump_brings_one_result_for_each_call_and_no_others() {
    let (builder, _) = bot([uses([echo("x", "A"), echo("x", "B")]), "done".into()]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            let ids: Vec<_> = event.message().tool_uses().map(|call| call.id.clone()).collect();
            if ids.is_empty() {
                return Ok(Flow::Continue);
            }
            assert_eq!(ids, ["x", "x_2"]);
            let twice =
                event.jump_to_model([result("x", "1"), result("x", "2"), result("x_2", "3")]);
            assert_eq!(twice.unwrap_err(), InputError::DuplicateResult { id: "x".to_owned() });
            let ghost =
                event.jump_to_model([result("x", "1"), result("x_2", "2"), result("ghost", "3")]);
            assert!(matches!(ghost.unwrap_err(), InputError::UnknownResults { .. }));
            Ok(event.jump_to_model([result("x", "1"), result("x_2", "2")])?)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent).len(), 2);
    assert_valid(&agent);
}

#[tokio::test]
async fn jumps_of_tools_are_counted_too() {
    let answers = (0..20).map(|number| uses([echo(&number.to_string(), "x")]));
    let (builder, _) = bot(answers);
    let agent = builder
        .max_iters(30)
        .hook(on(EventKind::PostActing, |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            Ok(event.jump_to_model())
        }))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::TooManyJumps { limit: 3 }), "{error:?}");
    assert_valid(&agent);
}

#[tokio::test]
async fn a_history_from_elsewhere_is_taken_with_its_calls_and_results() {
    let (builder, _) = bot(["done"]);
    let agent = builder.build().unwrap();
    let ask =
        || Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(echo("a", "A"))]);
    let error = agent.call([go(), ask()]).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::MissingResults { .. })), "{error:?}");
    assert!(agent.memory().messages().is_empty());
    agent.call([go(), ask(), result("a", "A"), Msg::user("and now?")]).await.unwrap();
    assert_valid(&agent);
}
