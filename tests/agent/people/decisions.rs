//! Decisions of several hooks together, and rare paths of a call.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of an event has its lifetime"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::{ErrorPhase, EventKind, EventMask, Flow, HookEvent, PreActing};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolResult, ToolUse,
};
use hooks_agent_core::model::{ModelError, ModelOptions, ScriptedAnswer, ToolChoice};
use hooks_agent_core::react::{
    CompressContext, ContextConfig, ReActAgent, ReActAgentBuilder, ReActAgentReasoningArgs,
};
use hooks_agent_core::round::{JumpTo, Reasoned};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::FunctionTool;
use hooks_core::{BoxError, BoxFuture, HookResult, Hookable, hook};
use hooks_fixtures::scripted_agents::{
    assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use hooks_fixtures::{Records, Reports};
use serde_json::{Value, json};
use tokio::sync::Notify;

type Ran = Arc<Records<String>>;

fn bot<A: Into<ScriptedAnswer>>(answers: impl IntoIterator<Item = A>) -> (ReActAgentBuilder, Ran) {
    let ran = Ran::default();
    let (model, _) = script(answers);
    (ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)), ran)
}

fn result(id: &str, text: &str) -> Msg {
    Msg::tool_result(ToolResult::success(&echo(id, ""), text))
}

fn shown(results: &[(&str, &str)]) -> Vec<(String, String)> {
    results.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

fn stop(event: &PreActing<'_>) -> Flow {
    event.stop()
}

/// What a hook does before a tool call, by its id.
fn before(react: impl Fn(&PreActing<'_>) -> Flow + Send + Sync + 'static) -> impl AgentHook {
    on(EventKind::PreActing, move |event| {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        Ok(react(event))
    })
}

#[tokio::test]
async fn results_of_a_jump_must_fit_the_tool_calls_as_later_hooks_left_them() {
    let (builder, ran) = bot([uses([echo("a", "A")]), "unreached".into()]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            Ok(event.jump_to_model(result("a", "no"))?)
        }))
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            let renamed = vec![ContentBlock::ToolUse(echo("renamed", "A"))];
            event.set_message(Msg::from_blocks(Role::Assistant, "bot", renamed));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    let expected =
        InputError::UnknownResults { ids: vec!["a".into()], expected: vec!["renamed".into()] };
    assert!(matches!(&error, AgentError::Input(input) if *input == expected), "{error:?}");
    // Neither the answer nor the result is remembered.
    assert_eq!(agent.memory().messages().len(), 1);
    assert_eq!(ran.take(), [] as [String; 0]);
}

#[tokio::test]
async fn a_round_of_tools_starts_the_count_of_jumps_anew() {
    let answers = ["jump", "tools", "jump", "tools", "jump", "end"].map(|step| match step {
        "tools" => uses([echo("a", "A")]),
        text => text.into(),
    });
    let (builder, ran) = bot(answers);
    let agent = builder
        .max_jumps(1)
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            let jumps = event.message().text() == "jump";
            Ok(if jumps { event.jump_to_model(go())? } else { Flow::Continue })
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "end");
    assert_eq!(ran.take(), ["A", "A"]);

    let (builder, _) = bot(["jump", "jump", "unreached"]);
    let agent = builder
        .max_jumps(1)
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            Ok(event.jump_to_model(go())?)
        }))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::TooManyJumps { limit: 1 }), "{error:?}");
}

#[tokio::test]
async fn of_two_jumps_of_parallel_tools_that_of_the_later_tool_call_counts() {
    for ends in ["a", "b"] {
        let (builder, _) = bot([uses([echo("a", "A"), echo("b", "B")]), "again".into()]);
        let agent = builder
            .parallel_tools(true)
            .hook(before(move |event| {
                if event.tool_use().id == ends {
                    event.jump_to_end()
                } else {
                    event.jump_to_model()
                }
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        let reason =
            if ends == "b" { GenerateReason::HookEnded } else { GenerateReason::ModelStop };
        assert_eq!(reply.reason, Some(reason));
        assert_eq!(results(&agent).len(), 2);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_stop_of_a_parallel_tool_beats_a_question_which_beats_a_jump() {
    for (first, second, expected) in [
        ("stop", "ask", GenerateReason::ActingStopRequested),
        ("ask", "stop", GenerateReason::ActingStopRequested),
        ("jump", "stop", GenerateReason::ActingStopRequested),
        ("stop", "jump", GenerateReason::ActingStopRequested),
        ("ask", "jump", GenerateReason::PermissionAsking),
        ("jump", "ask", GenerateReason::PermissionAsking),
    ] {
        let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B"), echo("c", "C")])]);
        let agent = builder
            .parallel_tools(true)
            .hook(before(move |event| {
                let way = match event.tool_use().id.as_str() {
                    "a" => first,
                    "b" => second,
                    _ => "",
                };
                match way {
                    "stop" => event.stop(),
                    "ask" => event.ask("why"),
                    "jump" => event.jump_to_end(),
                    _ => Flow::Continue,
                }
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(reply.reason, Some(expected), "{first}, {second}");
        // What did not run waits, also that of the jump that did not count.
        assert!(reply.pending().iter().map(|pending| pending.id.as_str()).eq(["a", "b"]));
        assert_eq!(reply.pending(), agent.memory().pending());
        assert_eq!((ran.take(), results(&agent)), (vec!["C".to_owned()], shown(&[("c", "C")])));
    }
}

/// Compresses by taking results away.
struct Careless;

impl CompressContext for Careless {
    fn compress<'a>(
        &'a self,
        messages: Messages,
        _: &'a ContextConfig,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        let kept = messages.into_iter().filter(|msg| msg.tool_results().next().is_none());
        let kept = kept.collect();
        Box::pin(async { Ok(kept) })
    }
}

#[tokio::test]
async fn a_compressor_that_parts_a_tool_call_from_its_result_fails_the_call() {
    let (builder, _) = bot([uses([echo("a", "A")]), "unreached".into()]);
    let config = ContextConfig::new(4).trigger(0.5);
    let agent = builder.compressor(Careless, config).build().unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::Compression(_)), "{error:?}");
    // Memory is as it was.
    assert_eq!(results(&agent), shown(&[("a", "A")]));
    assert_valid(&agent);
}

#[tokio::test]
async fn results_that_came_before_a_parallel_tool_stopped_are_kept() {
    let (builder, ran) =
        bot([uses([echo("a", "A"), echo("b", "B"), echo("c", "C")]), "done".into()]);
    let agent = builder
        .parallel_tools(true)
        .hook(before(|event| {
            let waits = event.tool_use().id == "a" && !event.context().is_confirmed("a");
            if waits { event.stop() } else { Flow::Continue }
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), shown(&[("b", "B"), ("c", "C")]));
    assert_eq!(agent.resume(CallOptions::new().confirm("a")).await.unwrap().text(), "done");
    assert_eq!(ran.take(), ["B", "C", "A"]);
    assert_valid(&agent);
}

#[tokio::test]
async fn a_single_tool_call_without_an_id_is_given_one() {
    // Of the model, and of a hook.
    for is_of_hook in [false, true] {
        let answer = if is_of_hook { "text".into() } else { uses([echo("", "A")]) };
        let (builder, ran) = bot([answer, "done".into()]);
        let rounds = AtomicUsize::new(0);
        let agent = builder
            .hook(on(EventKind::PostReasoning, move |event| {
                let HookEvent::PostReasoning(event) = event else { unreachable!() };
                if is_of_hook && rounds.fetch_add(1, Ordering::Relaxed) == 0 {
                    let call = vec![ContentBlock::ToolUse(echo("", "A"))];
                    event.set_message(Msg::from_blocks(Role::Assistant, "bot", call));
                }
                Ok(Flow::Continue)
            }))
            .build()
            .unwrap();
        let events: Vec<_> = agent.stream(go()).map(|event| event.unwrap().kind).collect().await;
        let results = results(&agent);
        assert!(!results[0].0.is_empty(), "{results:?}");
        // The chunk that the stream showed has it too.
        for event in events {
            if let AgentEventKind::ReasoningChunk(ContentBlock::ToolUse(call)) = event {
                assert_eq!(call.id, results[0].0);
            }
        }
        assert_eq!((results[0].1.as_str(), ran.take()), ("A", vec!["A".to_owned()]));
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn results_of_the_caller_follow_their_tool_calls_whatever_comes_before_them() {
    let (builder, _) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder.hook(before(stop)).build().unwrap();
    agent.call(go()).await.unwrap();
    agent.call([Msg::user("by the way"), result("b", "y"), result("a", "x")]).await.unwrap();
    let roles: Vec<_> = agent.memory().messages().iter().map(|msg| msg.role).collect();
    let expected =
        [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User, Role::Assistant];
    assert_eq!(roles, expected);
}

#[tokio::test]
async fn a_tool_that_must_be_chosen_need_not_be_for_the_summary() {
    for choice in [ToolChoice::Required, ToolChoice::Tool("echo".to_owned())] {
        let (model, requests) = script([uses([echo("a", "A")]), "summary".into()]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&Ran::default()))
            .model_options(ModelOptions::new().tool_choice(choice.clone()))
            .max_iters(1)
            .build()
            .unwrap();
        assert_eq!(agent.call(go()).await.unwrap().text(), "summary");
        let choices: Vec<_> =
            requests.take().iter().map(|request| request.options.tool_choice.clone()).collect();
        assert_eq!(choices, [choice, ToolChoice::Auto]);
    }
}

#[tokio::test]
async fn a_stop_before_the_summary_beats_an_answer_of_a_later_hook() {
    let (builder, _) = bot([uses([echo("a", "A")]), "unreached".into()]);
    let at = |stops| {
        on(EventKind::PreSummary, move |event| {
            let HookEvent::PreSummary(event) = event else { unreachable!() };
            Ok(if stops { event.stop() } else { event.answer(Msg::assistant("hook", "enough")) })
        })
    };
    let agent = builder.max_iters(1).hook(at(true)).hook(at(false)).build().unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
    assert_eq!((reply.text().as_str(), reply.pending()), ("", &[][..]));
    assert_eq!(agent.memory().messages().len(), 3);
    assert_valid(&agent);
}

#[tokio::test]
async fn an_error_that_was_told_and_caught_does_not_hide_the_next_one() {
    for is_input in [true, false] {
        let told = Arc::new(Records::<String>::new());
        let noted = told.clone();
        let (model, reason) = ("m".to_owned(), "as told".to_owned());
        let (builder, _) = bot([ScriptedAnswer::from(ModelError::Failed { model, reason })]);
        let agent = builder
            .hook(on(EventKind::Error, move |event| {
                let HookEvent::Error(event) = event else { unreachable!() };
                noted.push(match event.phase() {
                    ErrorPhase::Call => format!("call: {}", event.error()),
                    _ => "inside".to_owned(),
                });
                Ok(Flow::Continue)
            }))
            .build()
            .unwrap();
        agent.register_instance_hook(
            ReActAgent::AROUND_REPLY,
            "again",
            hook!(ReActAgent::AROUND_REPLY, async move |_, mut args, next| {
                let first = next.run(args.clone()).await;
                assert!(first.is_err());
                args.cx.insert(());
                if is_input {
                    args.messages = Msg::system("not here").into();
                }
                next.run(args).await
            }),
        );
        agent.register_instance_hook(
            ReActAgent::PRE_SYSTEM_PROMPT,
            "fails",
            hook!(ReActAgent::PRE_SYSTEM_PROMPT, async |_, args| -> HookResult {
                if args.cx.get::<()>().is_some() { Err("second".into()) } else { Ok(()) }
            }),
        );
        let error = agent.call(go()).await.unwrap_err();
        assert_eq!(told.take(), ["inside".to_owned(), format!("call: {error}")]);
    }
}

/// Fails at chunks, where it does not wait.
struct Failing;

impl AgentHook for Failing {
    fn name(&self) -> String {
        "failing".to_owned()
    }

    fn events(&self) -> EventMask {
        EventMask::of(&[EventKind::ReasoningChunk, EventKind::SummaryChunk])
    }

    fn sync_events(&self) -> EventMask {
        self.events()
    }

    async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        unreachable!("its events are sync")
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        match event {
            HookEvent::SummaryChunk(_) => panic!("as told"),
            _ => Err("as told".into()),
        }
    }
}

#[tokio::test]
async fn a_hook_of_chunks_that_fails_or_panics_is_reported_and_changes_nothing() {
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    let _reporting = tracing::subscriber::set_default(reports);
    let (builder, _) = bot([uses([echo("a", "A")]), "summary".into()]);
    let agent = builder.max_iters(1).hook(Failing).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "summary");
    let reports = records.take();
    let [reasoning, summary] = &reports[..] else { panic!("{reports:?}") };
    for (report, parts) in [
        (reasoning, ["hook=\"failing\"", "event=\"REASONING_CHUNK\"", "as told"]),
        (summary, ["hook=\"failing\"", "event=\"SUMMARY_CHUNK\"", "the hook panicked"]),
    ] {
        assert!(parts.iter().all(|part| report.contains(part)), "{report}");
    }
}

fn after(
    react: impl Fn(&hooks_agent_core::event::PostActing<'_>) -> Flow + Send + Sync + 'static,
) -> impl AgentHook {
    on(EventKind::PostActing, move |event| {
        let HookEvent::PostActing(event) = event else { unreachable!() };
        Ok(react(event))
    })
}

#[tokio::test]
async fn a_stop_overrides_a_jump_whose_messages_no_longer_fit() {
    let (builder, _) = bot([uses([echo("a", "A")])]);
    let agent = builder
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            Ok(event.jump_to_model(result("a", "no"))?)
        }))
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            event.set_message(Msg::assistant("bot", "nothing to do"));
            Ok(event.stop())
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
    assert_eq!(reply.text(), "nothing to do");
}

#[tokio::test]
async fn a_stop_before_the_model_overrides_a_later_jump() {
    let (builder, _) = bot(["unreached"]);
    let before_model = |react: fn(&hooks_agent_core::event::PreReasoning<'_>) -> Flow| {
        on(EventKind::PreReasoning, move |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            Ok(react(event))
        })
    };
    let agent = builder
        .hook(before_model(|event| event.stop()))
        .hook(before_model(|event| event.jump_to_end()))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ReasoningStopRequested));
}

#[tokio::test]
async fn jumps_to_tools_that_do_not_wait_are_counted_too() {
    let (builder, _) = bot(["unreached"]);
    let agent = builder
        .hook(on(EventKind::PreReasoning, |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            Ok(event.jump_to_tools())
        }))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::TooManyJumps { .. }), "{error:?}");
}

#[tokio::test]
async fn all_results_stand_before_the_other_messages_of_a_jump() {
    let (builder, _) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::POST_REASONING,
        "jump",
        |_: &ReActAgent, _: &ReActAgentReasoningArgs, output: &mut Reasoned| {
            if output.message.as_ref().is_some_and(|msg| msg.tool_uses().next().is_some()) {
                output.control.jump(JumpTo::Model, [result("a", "no"), Msg::user("a note")]);
            }
        },
    );
    agent.call(go()).await.unwrap();
    let roles: Vec<_> = agent.memory().messages().iter().map(|msg| msg.role).collect();
    let expected =
        [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User, Role::Assistant];
    assert_eq!(roles, expected);
}

#[tokio::test]
async fn the_reply_is_the_result_of_the_parallel_tool_that_stopped() {
    let (builder, _) = bot([uses([echo("a", "A"), echo("b", "B")])]);
    let agent =
        builder
            .parallel_tools(true)
            .hook(after(|event| {
                if event.tool_use().id == "a" { event.stop() } else { event.jump_to_end() }
            }))
            .build()
            .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
    assert_eq!(reply.tool_results().map(|result| &*result.id).collect::<Vec<_>>(), ["a"]);
}

#[tokio::test]
async fn the_jump_of_the_later_tool_call_counts_also_if_it_ends_first() {
    let (first, second) = (ToolUse::new("a", "late", json!({})), echo("b", "B"));
    let (builder, _) = bot([uses([first, second]), "done".into()]);
    let go_on = Arc::new(Notify::new());
    let waits = go_on.clone();
    let late = FunctionTool::new("late", "Waits for the other tool.", move |_: Value| {
        let waits = waits.clone();
        async move {
            waits.notified().await;
            "late"
        }
    });
    let agent = builder
        .tool(late)
        .parallel_tools(true)
        .hook(after(move |event| {
            if event.tool_use().id == "a" {
                return event.jump_to_end();
            }
            go_on.notify_one();
            event.jump_to_model()
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
}

#[tokio::test]
async fn no_tool_begins_after_an_interrupt_at_the_one_before_it() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")])]);
    let begun = Arc::new(Records::<String>::new());
    let noted = begun.clone();
    let agent = builder
        .hook(before(move |event| {
            noted.push(event.tool_use().id.clone());
            Flow::Continue
        }))
        .hook(after(|event| {
            event.context().interrupt();
            Flow::Continue
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_eq!((begun.take(), ran.take()), (vec!["a".to_owned()], vec!["A".to_owned()]));
    assert_valid(&agent);
}

#[tokio::test]
async fn a_result_that_waits_for_an_earlier_one_is_kept_when_the_call_is_dropped() {
    let (builder, _) = bot([uses([ToolUse::new("a", "never", json!({})), echo("b", "B")])]);
    let never =
        FunctionTool::new("never", "Never ends.", |_: Value| std::future::pending::<&str>());
    let agent = builder.tool(never).parallel_tools(true).build().unwrap();
    let mut call = Box::pin(agent.call(go()));
    assert!(futures::poll!(&mut call).is_pending());
    drop(call);
    let results = results(&agent);
    assert!(results[0].1.starts_with("! "), "{results:?}");
    assert_eq!(results[1], ("b".to_owned(), "B".to_owned()));
    assert_valid(&agent);
}

#[tokio::test]
async fn a_result_of_a_hook_has_the_id_and_the_name_of_the_call_and_names_none_that_ran() {
    let (builder, ran) = bot([uses([echo("a", "A")]), "done".into()]);
    let agent = builder
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            event.tool_use_mut().input = json!({ "text": "changed" });
            Ok(Flow::Continue)
        }))
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            let call = event.tool_use_mut();
            (call.id, call.name) = ("x".to_owned(), "other".to_owned());
            Ok(event.answer("given"))
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    let messages = agent.memory().messages();
    let result = messages.iter().find_map(|msg| msg.tool_results().next()).unwrap();
    assert_eq!((&*result.id, &*result.name, result.output.as_str()), ("a", "echo", "given"));
    assert_eq!((&result.ran, ran.take().len()), (&None, 0));
}

#[tokio::test]
async fn a_result_names_the_call_that_ran_only_if_it_is_another() {
    let (builder, _) = bot([uses([echo("a", "A")]), "done".into()]);
    let agent = builder.build().unwrap();
    agent.call(go()).await.unwrap();
    let messages = agent.memory().messages();
    let result = messages.iter().find_map(|msg| msg.tool_results().next()).unwrap();
    assert_eq!(result.ran, None);
}

#[tokio::test]
async fn an_answer_for_a_tool_keeps_the_jump_of_an_earlier_hook() {
    let (builder, _) = bot([uses([echo("a", "A")])]);
    let agent = builder
        .hook(before(|event| event.jump_to_end()))
        .hook(before(|event| event.answer("given")))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::HookEnded));
    assert_eq!(results(&agent), shown(&[("a", "given")]));
}

#[tokio::test]
async fn a_question_and_a_jump_are_refused_at_events_that_have_none() {
    for (from, to) in [
        (EventKind::PreActing, EventKind::PostActing),
        (EventKind::PreReasoning, EventKind::PreSummary),
    ] {
        let (builder, _) = bot([uses([echo("a", "A")]), "a summary".into()]);
        let kept = Arc::new(Mutex::new(None));
        let taken = kept.clone();
        let agent = builder
            .max_iters(1)
            .hook(on(from, move |event| {
                let flow = match event {
                    HookEvent::PreActing(event) => event.ask("may it?"),
                    HookEvent::PreReasoning(event) => event.jump_to_end(),
                    _ => unreachable!(),
                };
                *kept.lock().unwrap() = Some(flow);
                Ok(Flow::Continue)
            }))
            .hook(on(to, move |_| Ok(taken.lock().unwrap().take().unwrap_or_default())))
            .build()
            .unwrap();
        let error = agent.call(go()).await.unwrap_err();
        assert!(error.to_string().contains("made by another event"), "{error}");
    }
}

/// Compresses to the last message.
struct Last;

impl CompressContext for Last {
    fn compress<'a>(
        &'a self,
        messages: Messages,
        _: &'a ContextConfig,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        let last = messages.iter().next_back().cloned().into_iter().collect();
        Box::pin(async { Ok(last) })
    }
}

#[tokio::test]
async fn a_message_that_is_observed_during_the_compression_stays() {
    let (builder, _) = bot(["done"]);
    let config = ContextConfig::new(4).trigger(0.5);
    let agent = builder.compressor(Last, config).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_COMPRESS_CONTEXT,
        "observe",
        hook!(ReActAgent::AROUND_COMPRESS_CONTEXT, async |agent: &ReActAgent, args, next| {
            let cx = args.cx.clone();
            let compressed = next.run(args).await;
            agent.observe(cx, Msg::user("meanwhile")).await?;
            compressed
        }),
    );
    agent.call([Msg::user("a long first message"), Msg::user("a last one")]).await.unwrap();
    let texts: Vec<_> = agent.memory().messages().iter().map(|msg| msg.text()).collect();
    assert_eq!(texts, ["a last one", "meanwhile", "done"]);
}

/// A hook at `Settled` that need not wait.
struct SettlesNow(Arc<Records<&'static str>>);

impl AgentHook for SettlesNow {
    fn events(&self) -> EventMask {
        EventKind::Settled.into()
    }

    fn sync_events(&self) -> EventMask {
        EventKind::Settled.into()
    }

    async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0.push("on_event");
        Ok(Flow::Continue)
    }

    fn on_event_now(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0.push("on_event_now");
        Ok(Flow::Continue)
    }
}

#[tokio::test]
async fn a_hook_whose_settled_event_is_sync_receives_it_without_a_future() {
    let seen = Arc::new(Records::new());
    let (builder, _) = bot(["done"]);
    let agent = builder.hook(SettlesNow(seen.clone())).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(seen.take(), ["on_event_now"]);
}
