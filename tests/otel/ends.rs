//! Ends of spans: their status and the type of their error.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_otel::Capture;
use opentelemetry::trace::Status;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::recorded::{Recorded, text};
use crate::spans::tool_then_text;

/// A model whose answer stops after its first word, without an end.
struct Stuck;

impl ChatModel for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let word = stream::iter([Ok(ChatChunk::Text("Well ".to_owned()))]);
        Box::pin(word.chain(stream::pending()))
    }
}

// OT-06
#[tokio::test]
async fn a_dropped_stream_ends_all_spans_without_an_error() {
    for capture in [Capture::Nothing, Capture::Both] {
        let recorded = Recorded::new();
        let hook = recorded.builder().capture(capture).build();
        let agent = ReActAgent::builder("a").model(Stuck).hook(hook).build().unwrap();
        let mut stream = agent.stream("Go");
        while let Some(Ok(event)) = stream.next().await {
            if matches!(event.kind, AgentEventKind::ReasoningChunk(_)) {
                break;
            }
        }
        drop(stream);
        assert_eq!(recorded.tree(), "invoke_agent a\n  chat stuck\n");
        for span in recorded.spans() {
            assert_eq!(span.status, Status::Unset);
            assert_eq!(text(&span, "error.type"), None);
        }
        let call = recorded.span("invoke_agent a");
        assert_eq!(text(&call, "hooks.outcome").unwrap(), "cancelled");
    }
}

// OT-06
#[tokio::test]
async fn a_dropped_call_ends_the_span_of_a_running_tool() {
    let recorded = Recorded::new();
    let started = Arc::new(Notify::new());
    let of_tool = started.clone();
    let tool = FunctionTool::new("t", "Hangs.", move |_: Value| {
        let started = of_tool.clone();
        async move {
            started.notify_one();
            pending::<String>().await
        }
    });
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
    let agent = agent.hook(recorded.builder().capture(Capture::Both).build()).build().unwrap();
    {
        let call = std::pin::pin!(agent.call("Go"));
        let started = std::pin::pin!(started.notified());
        futures::future::select(call, started).await;
    }
    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m\n  execute_tool t\n");
    assert!(recorded.spans().iter().all(|span| span.status == Status::Unset));
}

// OT-07
#[tokio::test]
async fn a_tool_that_panics_is_an_error_of_its_span_alone() {
    let recorded = Recorded::new();
    let tool = FunctionTool::new("t", "Panics.", async |_: Value| -> String {
        panic!("on purpose");
    });
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
    agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap();
    let tool = recorded.span("execute_tool t");
    assert_eq!(text(&tool, "error.type").unwrap(), "tool_panicked");
    assert_eq!(tool.status, Status::error(""));
    assert_eq!(recorded.span("invoke_agent a").status, Status::Unset);
}

#[tokio::test]
async fn a_call_that_panics_ends_with_that_error() {
    let recorded = Recorded::new();
    let panics = on(|_: &mut PostReasoning<'_>| -> HookResult { panic!("on purpose") });
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(panics).hook(recorded.hook());
    let agent = Arc::new(agent.build().unwrap());
    tokio::spawn(agent.call_owned(CallOptions::new(), "Go")).await.unwrap_err();
    let call = recorded.span("invoke_agent a");
    assert_eq!(text(&call, "hooks.outcome").unwrap(), "panicked");
    assert_eq!(text(&call, "error.type").unwrap(), "panic");
    assert_eq!(recorded.spans().len(), 2);
}

#[tokio::test]
async fn an_interrupted_call_has_no_error() {
    let recorded = Recorded::new();
    let agent = ReActAgent::builder("a").model(Stuck).hook(recorded.hook()).build().unwrap();
    let interrupt = Interrupt::new();
    let of_hook = interrupt.clone();
    let mut stream = agent.stream_with(CallOptions::new().interrupt(interrupt), "Go");
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, AgentEventKind::ReasoningChunk(_)) {
            of_hook.interrupt();
        }
    }
    drop(stream);
    let call = recorded.span("invoke_agent a");
    assert_eq!(text(&call, "hooks.outcome").unwrap(), "interrupted");
    assert!(recorded.spans().iter().all(|span| span.status == Status::Unset));
    assert_eq!(recorded.spans().len(), 2);
}

#[tokio::test]
async fn a_call_that_waits_for_approval_has_no_error_and_no_tool_span() {
    let recorded = Recorded::new();
    let ask = on(|event: &mut PreActing<'_>| event.ask("sure?"));
    let agent =
        ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t").answers("ok"));
    let agent = agent.hook(ask).hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();
    let call = recorded.span("invoke_agent a");
    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m\n");
    assert_eq!(call.status, Status::Unset);
    assert_eq!(text(&call, "hooks.reason").unwrap(), "permission_asking");

    agent.resume(CallOptions::new().confirm("call-1")).await.unwrap();
    let resumed = "invoke_agent a\n  execute_tool t\n  chat m\n";
    assert_eq!(recorded.tree(), format!("invoke_agent a\n  chat m\n{resumed}"));
}

#[tokio::test]
async fn each_error_of_a_model_has_its_type() {
    let of = async |answer: ScriptedAnswer| {
        let recorded = Recorded::new();
        let agent = ReActAgent::builder("a").model(Script::new().turn(answer));
        agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap_err();
        let types = recorded.spans();
        let types: Vec<_> = types.iter().map(|span| text(span, "error.type").unwrap()).collect();
        assert_eq!(types[0], types[1], "of the call and of the model");
        types[0].clone()
    };
    let reason = || "no".to_owned();
    let name = || "m".to_owned();
    assert_eq!(of(ModelError::status("m", 503).into()).await, "503");
    assert_eq!(of(ModelError::unreachable("m", "h", "no").into()).await, "model_unreachable");
    assert_eq!(of(ModelError::Cut { model: name() }.into()).await, "model_cut");
    assert_eq!(
        of(ModelError::empty(name(), hooks_agent_core::message::Usage::new(70, 20)).into()).await,
        "model_empty"
    );
    assert_eq!(of(ModelError::blocked(reason()).into()).await, "model_blocked");
    assert_eq!(of(ModelError::Failed { model: name(), reason: reason() }.into()).await, "_OTHER");
    let cut = ScriptedAnswer::Stream(vec![Ok(ChatChunk::Text("Well".into()))]);
    assert_eq!(of(cut).await, "model_cut");
    let broken = vec![Ok(ChatChunk::Text("Well".into())), Err(ModelError::status("m", 500))];
    assert_eq!(of(ScriptedAnswer::Stream(broken)).await, "500");
}

#[tokio::test(start_paused = true)]
async fn each_error_of_a_tool_has_its_type() {
    let recorded = Recorded::new();
    let call = |id: &str, name: &str| ToolUse::new(id, name, json!({}));
    let invalid = ToolUse::invalid("4", "fine", "{");
    let calls = [call("1", "fails"), call("2", "hangs"), call("3", "made-up"), invalid];
    let hangs = FunctionTool::new("hangs", "Hangs.", async |_: Value| pending::<String>().await);
    let agent = ReActAgent::builder("a")
        .model(Script::new().calls(calls).says("done"))
        .tool(Calls::new("fails").fails("no"))
        .tool(Calls::new("fine"))
        .tool(hangs)
        .tool_timeout(Duration::from_secs(1))
        .hook(recorded.hook());
    agent.build().unwrap().call("Go").await.unwrap();
    let mut types: Vec<_> = recorded
        .spans()
        .iter()
        .filter_map(|span| Some(format!("{} {}", span.name, text(span, "error.type")?)))
        .collect();
    types.sort();
    let expected = [
        "execute_tool _OTHER tool_unknown",
        "execute_tool fails tool_failed",
        "execute_tool fine tool_invalid_input",
        "execute_tool hangs tool_timeout",
    ];
    assert_eq!(types, expected);
}

#[tokio::test]
async fn an_error_that_hooks_recovered_is_not_the_error_of_the_call() {
    let recorded = Recorded::new();
    let script = Script::new().fails(ModelError::status("m", 503));
    let recover = on(|event: &mut ErrorEvent<'_>| match event.phase() {
        hooks_agent_core::event::ErrorPhase::Reasoning => {
            event.recover(Msg::assistant("a", "Later."))
        }
        _ => Flow::Continue,
    });
    let fails = on(|_: &mut PostCall<'_>| -> HookResult { Err("broken".into()) });
    let agent = ReActAgent::builder("a").model(script).hook(recorded.hook().with_priority(5));
    agent.hook(recover).hook(fails).build().unwrap().call("Go").await.unwrap_err();
    assert_eq!(text(&recorded.span("invoke_agent a"), "error.type").unwrap(), "hook");
}

#[tokio::test]
async fn the_hook_that_failed_a_call_is_named() {
    let recorded = Recorded::new();
    let fails = on(|_: &mut PreReasoning<'_>| -> HookResult { Err("secret".into()) });
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(fails.named("guard"));
    agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap_err();
    let call = recorded.span("invoke_agent a");
    assert_eq!(text(&call, "hooks.hook").unwrap(), "guard");
    assert_eq!(text(&call, "error.type").unwrap(), "hook");

    let recorded = Recorded::new();
    let fails = Script::new().fails(ModelError::status("m", 503));
    let agent = ReActAgent::builder("a").model(fails).hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap_err();
    assert_eq!(text(&recorded.span("invoke_agent a"), "hooks.hook"), None);
}

#[tokio::test]
async fn each_end_of_an_answer_has_its_reason() {
    use hooks_agent_core::message::Usage;
    use hooks_agent_core::model::FinishReason;

    let call = || ChatChunk::ToolUse(ToolUse::new("1", "t", json!({})));
    let text = || ChatChunk::Text("Well".to_owned());
    for (chunk, finish, expected) in [
        (text(), FinishReason::Stop, "stop"),
        (text(), FinishReason::Length, "length"),
        (text(), FinishReason::ContentFilter, "content_filter"),
        (text(), FinishReason::Other, "other"),
        (call(), FinishReason::Stop, "tool_call"),
        (call(), FinishReason::Other, "tool_call"),
        (call(), FinishReason::ToolCalls, "tool_call"),
    ] {
        let recorded = Recorded::new();
        let end = ChatChunk::End { usage: Usage::default(), finish };
        let turn = ScriptedAnswer::Stream(vec![Ok(chunk), Ok(end)]);
        let agent = ReActAgent::builder("a").model(Script::new().turn(turn).says("done"));
        let agent = agent.tool(Calls::new("t").answers("ok")).hook(recorded.hook());
        let _ = agent.build().unwrap().call("Go").await;
        let chat = recorded.spans().into_iter().find(|span| span.name.starts_with("chat")).unwrap();
        let reasons = crate::recorded::text(&chat, "gen_ai.response.finish_reasons").unwrap();
        assert_eq!(reasons, format!("[\"{expected}\"]"), "{finish:?}");
    }
}

#[tokio::test]
async fn a_model_that_panics_is_an_error_of_its_span() {
    struct Panics;

    impl ChatModel for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }

        fn stream(&self, _: ChatRequest) -> ChatStream {
            Box::pin(stream::poll_fn(|_| panic!("on purpose")))
        }
    }

    let recorded = Recorded::new();
    let agent = ReActAgent::builder("a").model(Panics).hook(recorded.hook()).build().unwrap();
    tokio::spawn(Arc::new(agent).call_owned(CallOptions::new(), "Go")).await.unwrap_err();
    for name in ["chat panics", "invoke_agent a"] {
        assert_eq!(text(&recorded.span(name), "error.type").unwrap(), "panic");
    }
}
