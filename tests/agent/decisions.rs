//! What hooks decide together, and the rare ways of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use hooks_agent::{
    AgentError, AgentEventKind, AgentExt, AgentHook, CallOptions, CompressContext, ContentBlock,
    ContextConfig, ErrorPhase, EventKind, EventMask, Flow, GenerateReason, HookEvent, InputError,
    Messages, ModelError, ModelOptions, Msg, PreActing, ReActAgent, ReActAgentBuilder, Role,
    ScriptedAnswer, ToolChoice, ToolResult,
};
use hooks_core::{BoxError, BoxFuture, HookResult, Hookable, hook};
use hooks_tests::scripted_agents::{assert_valid, echo, echo_tool, go, on, results, script, uses};
use hooks_tests::{Records, Reports};

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
    let config = ContextConfig { window: Some(4), trigger: 0.5, ..ContextConfig::default() };
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
            .model_options(ModelOptions { tool_choice: choice.clone(), ..ModelOptions::default() })
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
