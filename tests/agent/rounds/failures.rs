//! Failures of tools, models and hooks: the error events they cause, and what hooks supply in their
//! place.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{ErrorPhase, EventKind, Flow, HookEvent};
use hooks_agent_core::hook::CallHooks;
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Msg, Role, ToolResult, ToolUse, Usage,
};
use hooks_agent_core::model::{ChatChunk, ModelError, ScriptedAnswer};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::{FunctionTool, ToolError};
use hooks_core::{HookResult, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    Notes, assert_valid, echo, echo_tool, failing_tool, go, on, results, script, uses,
};
use serde_json::{Value, json};

type Told = Arc<Records<String>>;

/// Notes where something failed and how.
fn tell(told: &Told) -> impl hooks_agent_core::hook::AgentHook + use<> {
    let told = told.clone();
    on(EventKind::Error, move |event| {
        let HookEvent::Error(event) = event else { unreachable!() };
        let phase = match event.phase() {
            ErrorPhase::Acting(call) => format!("Acting {}", call.id),
            phase => format!("{phase:?}"),
        };
        told.push(format!("{phase}: {}", event.error()));
        Ok(Flow::Continue)
    })
}

fn failed() -> ModelError {
    ModelError::Failed { model: "m".to_owned(), reason: "out of order".to_owned() }
}

fn stream(chunks: impl IntoIterator<Item = Result<ChatChunk, ModelError>>) -> ScriptedAnswer {
    ScriptedAnswer::Stream(chunks.into_iter().collect())
}

#[tokio::test]
async fn a_failed_call_is_told_once_where_it_failed() {
    let told = Told::default();
    let (model, _) = script([failed()]);
    let agent = ReActAgent::builder("bot").model(model).hook(tell(&told)).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap_err().to_string(), "model `m` failed: out of order");
    assert_eq!(told.take(), ["Reasoning: model `m` failed: out of order"]);

    // A hook of the call itself, then one of a tool.
    for (kind, phase) in [
        (EventKind::PreCall, "Call: instance hook `on PRE_CALL` failed at pre_reply: no"),
        (EventKind::PostCall, "Call: instance hook `on POST_CALL` failed at post_reply: no"),
        (
            EventKind::PreReasoning,
            "Reasoning: instance hook `on PRE_REASONING` failed at pre_reasoning: no",
        ),
        (
            EventKind::PostReasoning,
            "Reasoning: instance hook `on POST_REASONING` failed at post_reasoning: no",
        ),
        (EventKind::PreActing, "Acting a: instance hook `on PRE_ACTING` failed at pre_acting: no"),
        (
            EventKind::PostActing,
            "Acting a: instance hook `on POST_ACTING` failed at post_acting: no",
        ),
        (
            EventKind::PreSummary,
            "Summary: instance hook `on PRE_SUMMARY` failed at pre_summarizing: no",
        ),
        (
            EventKind::PostSummary,
            "Summary: instance hook `on POST_SUMMARY` failed at post_summarizing: no",
        ),
    ] {
        let (model, _) = script([uses([echo("a", "A")]), "summary".into()]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&Arc::default()))
            .max_iters(1)
            .hook(on(kind, |_| Err("no".into())))
            .hook(tell(&told))
            .build()
            .unwrap();
        let error = agent.call(go()).await.unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), "no");
        assert_eq!(told.take(), [phase]);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn failures_of_tools_are_told_and_read_by_the_model() {
    let told = Told::default();
    let panics =
        FunctionTool::new("panics", "Panics.", async |_: Value| -> String { panic!("as told") });
    let (model, _) = script([
        uses([
            ToolUse::new("a", "fails", json!({})),
            ToolUse::new("b", "panics", json!({})),
            ToolUse::new("c", "invented", json!({})),
            ToolUse::invalid("d", "fails", "{\"x\": "),
        ]),
        "done".into(),
    ]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(failing_tool("fails"))
        .tool(panics)
        .hook(tell(&told))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    let texts = [
        "the disk is full",
        "the tool `panics` panicked",
        "no tool named `invented`, there are: fails, panics",
        "the arguments of `fails` are not a JSON object: {\"x\": ; write an object that fits its schema",
    ];
    let expected: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .zip(texts)
        .map(|(id, text)| format!("Acting {id}: {text}"))
        .collect();
    assert_eq!(told.take(), expected);
    let in_memory: Vec<_> = results(&agent).into_iter().map(|(_, output)| output).collect();
    assert_eq!(in_memory, texts.map(|text| format!("! {text}")));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_a_result_the_model_reads() {
    let told = Told::default();
    let slow = FunctionTool::new("slow", "Sleeps.", async |_: Value| -> String {
        std::future::pending().await
    });
    let (model, _) = script([uses([ToolUse::new("a", "slow", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(slow)
        .tool_timeout(Duration::from_secs(5))
        .hook(tell(&told))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(
        results(&agent),
        [("a".to_owned(), "! the tool `slow` took longer than 5s".to_owned())]
    );
    assert_eq!(told.take().len(), 1);
}

/// What a hook at `Error` supplies, by phase.
fn save(event: &mut HookEvent<'_>) -> HookResult<Flow> {
    let HookEvent::Error(event) = event else { unreachable!() };
    Ok(match event.phase() {
        ErrorPhase::Acting(call) => event.recover(ToolResult::success(call, "by a hook")),
        phase => event.recover(Msg::assistant("saver", format!("saved at {phase:?}"))),
    })
}

#[tokio::test]
async fn a_hook_may_supply_what_failed() {
    let (model, _) = script([failed()]);
    let agent =
        ReActAgent::builder("bot").model(model).hook(on(EventKind::Error, save)).build().unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.reason),
        ("saved at Reasoning", Some(GenerateReason::Recovered))
    );

    let (model, _) = script([uses([ToolUse::new("a", "fails", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(failing_tool("fails"))
        .hook(on(EventKind::Error, save))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), [("a".to_owned(), "by a hook".to_owned())]);

    for (kind, text) in [
        (EventKind::PreCall, "saved at Call"),
        (EventKind::PostSummary, "saved at Summary"),
        (EventKind::PreActing, "summary"),
    ] {
        let (model, _) = script([uses([echo("a", "A")]), "summary".into()]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&Arc::default()))
            .max_iters(1)
            .hook(on(kind, |_| Err("no".into())))
            .hook(on(EventKind::Error, save))
            .build()
            .unwrap();
        assert_eq!(agent.call(go()).await.unwrap().text(), text, "{kind}");
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_failing_error_hook_is_reported_beside_the_error_of_the_call() {
    let told = Told::default();
    let failures = Told::default();
    let noted = failures.clone();
    let (model, _) = script([failed()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::Error, |_| Err("I fail too".into())))
        .hook(on(EventKind::Error, |_| panic!("as told")))
        .hook(on(EventKind::Error, |event| {
            let HookEvent::Error(event) = event else { unreachable!() };
            Ok(event.recover(ToolResult::success(&echo("x", ""), "of the wrong kind")))
        }))
        .hook(tell(&told))
        .hook(on(EventKind::Settled, move |event| {
            for failure in event.context().hook_failures() {
                noted.push(failure.to_string());
            }
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert_eq!(error.to_string(), "model `m` failed: out of order");
    assert!(matches!(error, AgentError::Model(ModelError::Failed { .. })));
    assert_eq!(
        failures.take(),
        ["I fail too", "the hook panicked", "a message saves this phase, not a tool result"]
    );
    assert_eq!(told.take(), ["Reasoning: model `m` failed: out of order"]);
}

#[tokio::test]
async fn what_was_saved_is_forgotten_and_the_next_failure_is_told() {
    let told = Told::default();
    let (model, _) = script([ScriptedAnswer::from(failed())]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::Error, |event| {
            let HookEvent::Error(event) = event else { unreachable!() };
            Ok(match event.phase() {
                ErrorPhase::Reasoning => event.recover(Msg::assistant("saver", "saved")),
                _ => Flow::Continue,
            })
        }))
        .hook(on(EventKind::PostCall, |_| Err("no".into())))
        .hook(tell(&told))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap_err();
    assert_eq!(told.take(), ["Call: instance hook `on POST_CALL` failed at post_reply: no"]);
}

#[tokio::test]
async fn an_answer_that_is_cut_empty_or_breaks_off_is_an_error_and_is_not_remembered() {
    let text = |text: &str| Ok(ChatChunk::Text(text.to_owned()));
    let broken = ModelError::Failed { model: "m".to_owned(), reason: "broke".to_owned() };
    let cases = [
        (stream([text("half an ")]), "the answer of model `scripted` was cut off"),
        (stream([]), "the answer of model `scripted` was cut off"),
        (stream([text("half"), Err(broken)]), "model `m` failed: broke"),
        (stream([Ok(ChatChunk::end(Usage::default()))]), "model `scripted` gave an empty answer"),
        (
            stream([Ok(ChatChunk::ToolUse(echo("a", "A")))]),
            "the answer of model `scripted` was cut off",
        ),
    ];
    for (answer, text) in cases {
        let notes = Notes::default();
        let (model, _) = script([answer, "fine".into()]);
        let agent = ReActAgent::builder("bot").model(model).hook(notes.clone()).build().unwrap();
        assert_eq!(agent.call(go()).await.unwrap_err().to_string(), text);
        let kinds = notes.0.take();
        assert!(
            !kinds.contains(&EventKind::PostReasoning) && !kinds.contains(&EventKind::PostCall)
        );
        assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::Error).count(), 1);
        let roles: Vec<_> = agent.memory().messages().iter().map(|msg| msg.role).collect();
        assert_eq!(roles, [Role::User]);
        assert_eq!(agent.call(go()).await.unwrap().text(), "fine");
    }
}

#[tokio::test]
async fn ids_that_come_twice_or_not_at_all_are_told_apart() {
    let ran = Told::default();
    let (model, _) = script([uses([echo("1", "A"), echo("1", "B"), echo("", "C")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).build().unwrap();
    agent.call(go()).await.unwrap();
    let expected =
        [("1", "A"), ("1_2", "B"), ("_2", "C")].map(|(id, text)| (id.into(), text.into()));
    assert_eq!(results(&agent), expected);
    assert_valid(&agent);
}

#[tokio::test]
async fn a_summary_that_asks_for_tools_all_the_same_leaves_memory_valid() {
    let (model, _) = script([uses([echo("a", "A")]), uses([echo("b", "B")])]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .max_iters(1)
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
    assert_valid(&agent);
}

#[tokio::test]
async fn what_ran_is_recorded_beside_what_the_model_asked_for() {
    let ran = Told::default();
    let (model, requests) = script([uses([echo("a", "asked")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&ran))
        .hook(on(EventKind::PreActing, |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            event.tool_use_mut().input["text"] = json!("changed");
            Ok(Flow::Continue)
        }))
        .hook(on(EventKind::PostActing, |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            assert_eq!(event.tool_use().input["text"], "changed");
            event.tool_result_mut().output.text_mut().push_str(", cleaned");
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(ran.take(), ["changed"]);
    let memory = agent.memory().messages();
    assert_eq!(memory[1].tool_uses().next().unwrap().input["text"], "asked");
    let result = memory[2].tool_results().next().unwrap();
    assert_eq!(result.ran.as_deref(), Some(&echo("a", "changed")));
    // One value is the truth: memory and the model have what the hook made of it.
    assert_eq!(result.output, "changed, cleaned");
    let sent = requests.take()[1].messages.last().unwrap().tool_results().next().unwrap().clone();
    assert_eq!(&sent, result);
}

#[tokio::test]
async fn a_hook_around_a_tool_may_try_again() {
    let tries = Arc::new(Records::<u32>::new());
    let counted = tries.clone();
    let flaky = FunctionTool::new("flaky", "Fails at first.", move |_: Value| {
        counted.push(1);
        let is_first = counted.take().len() == 1;
        counted.push(1);
        async move { if is_first { Err(std::io::Error::other("not yet")) } else { Ok("at last") } }
    });
    let (model, _) = script([uses([ToolUse::new("a", "flaky", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(flaky).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_TOOL_CALL,
        "retry",
        hook!(ReActAgent::AROUND_TOOL_CALL, async |_, args, next| {
            match next.run(args.clone()).await {
                Err(ToolError::Failed(_)) => next.run(args).await,
                ended => ended,
            }
        }),
    );
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), [("a".to_owned(), "at last".to_owned())]);
}

#[tokio::test]
async fn an_answer_of_a_hook_without_content_is_remembered_as_it_is() {
    let (model, _) = script(["unreached"]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::PreReasoning, |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            Ok(event.answer(Msg::from_blocks(Role::Assistant, "hook", Vec::<ContentBlock>::new())))
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().content, []);
    assert_valid(&agent);
}

#[tokio::test]
async fn an_error_that_was_caught_on_its_way_does_not_hide_the_next_one() {
    let told = Told::default();
    let (model, _) = script([failed()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(tell(&told))
        .hook(on(EventKind::PostCall, |_| Err("no".into())))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "catch",
        hook!(ReActAgent::AROUND_REPLY, async |_, args, next| {
            Ok(next.run(args).await.unwrap_or_else(|_| Msg::assistant("bot", "caught")))
        }),
    );
    agent.call(go()).await.unwrap_err();
    let expected = [
        "Reasoning: model `m` failed: out of order",
        "Call: instance hook `on POST_CALL` failed at post_reply: no",
    ];
    assert_eq!(told.take(), expected);
}

#[tokio::test]
async fn a_hook_of_all_agents_is_told_of_failures_inside() {
    let (told, own) = (Told::default(), Told::default());
    let (model, _) = script([failed()]);
    let agent = ReActAgent::builder("bot").model(model).hook(tell(&own)).build().unwrap();
    agent.register_call_hook(tell(&told));
    agent.call(go()).await.unwrap_err();
    assert_eq!(told.take(), ["Call: model `m` failed: out of order"]);
    assert_eq!(own.take(), ["Reasoning: model `m` failed: out of order"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_observer_does_not_use_up_the_time_of_a_tool() {
    let quick = FunctionTool::with_context(
        "quick",
        "Is quick.",
        async |_: Value, cx: hooks_agent_core::tool::ToolContext| {
            cx.progress("there");
            "done at once"
        },
    );
    let (model, _) = script([uses([ToolUse::new("a", "quick", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(quick)
        .tool_timeout(Duration::from_secs(1))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING_CHUNK,
        "slow",
        hook!(ReActAgent::PRE_ACTING_CHUNK, async |_, _| {
            // The clock is paused and runs ahead when nothing else does.
            let _ =
                tokio::time::timeout(Duration::from_secs(90), std::future::pending::<()>()).await;
        }),
    );
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), [("a".to_owned(), "done at once".to_owned())]);
}

#[tokio::test]
async fn a_tool_that_panics_when_it_is_asked_for_permission_does_not_run() {
    let odd = FunctionTool::new("odd", "Panics.", async |_: Value| "ran")
        .permission(|_| panic!("as told"));
    let (model, _) = script([uses([ToolUse::new("a", "odd", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(odd).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), [("a".to_owned(), "! the tool `odd` panicked".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_of_the_reply_that_takes_too_long_is_told_after_an_error_that_was_caught() {
    let told = Told::default();
    let agent = ReActAgent::builder("bot").model(script([failed()]).0).hook(tell(&told));
    let agent = agent.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "catch",
        hook!(ReActAgent::AROUND_REPLY, async |_, args, next| {
            Ok(next.run(args).await.unwrap_or_else(|_| Msg::assistant("bot", "caught")))
        }),
    );
    agent.register_instance_hook(
        ReActAgent::POST_REPLY,
        hooks_core::HookOptions::named("slow").timeout(Duration::from_secs(1)),
        hook!(ReActAgent::POST_REPLY, async |_, _, _| std::future::pending::<()>().await),
    );
    agent.call(go()).await.unwrap_err();
    let told = told.take();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with("Call: "), "{told:?}");
}
