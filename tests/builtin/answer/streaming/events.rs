//! Which events there are, and in which form.

use std::sync::Arc;

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_builtin::answer::{StreamType, Streaming};
use hooks_agent_core::call::{Interrupt, RunId};
use hooks_agent_core::error::ErrorKind;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

use crate::streaming::{all, bot, numbers, seen, short};

fn read() -> FunctionTool {
    FunctionTool::with_context("read", "Reads.", async |_: Value, cx| {
        cx.progress("half of it");
        "text"
    })
}

fn read_call() -> ToolUse {
    ToolUse::new("1", "read", json!({ "path": "/a" }))
}

#[test]
fn a_call_is_passed_on_in_order() {
    let script = Script::new().calls([read_call()]).thinks("Hm.", "It says text.");
    let (streaming, events) = Streaming::to_channel(1);
    let agent = ReActAgent::builder("bot").model(script).tool(read()).hook(streaming);
    let agent = agent.build().unwrap();
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(
        seen,
        [
            r#"read {"path":"/a"}"#,
            "read.. half of it",
            "read: text",
            "(Hm.)",
            "It ",
            "says ",
            "text.",
            "= It says text.",
        ]
    );
}

#[test]
fn chunks_without_content_are_not_passed_on() {
    let chunk = |text: &str| Ok(ChatChunk::Text(text.to_owned()));
    let chunks =
        vec![chunk(""), chunk("a"), chunk(""), chunk("b"), Ok(ChatChunk::end(Usage::default()))];
    let (streaming, events) = Streaming::to_channel(1);
    let agent = bot(&Script::new().turn(ScriptedAnswer::Stream(chunks)), streaming);
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(seen, ["a", "b", "= ab"]);
}

/// Supplies a reply after a failure.
fn saves() -> impl AgentHook {
    on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("bot", "sorry")))
}

#[test]
fn a_reply_that_a_hook_supplies_after_a_failure_is_passed_on() {
    let (streaming, events) = Streaming::to_channel(1);
    let script = Script::new().fails(ModelError::status("script", 503));
    let agent = ReActAgent::builder("bot").model(script).hook(streaming).hook(saves());
    let agent = agent.build().unwrap();
    let passed = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(passed, ["= sorry"]);

    // It replaces one that was passed on before the call failed.
    let (streaming, events) = Streaming::to_channel(1);
    let refuse =
        on(|event: &mut PostCall<'_>| -> HookResult { Err(event.final_message().text().into()) });
    let builder = ReActAgent::builder("bot").model(Script::new().says("hi")).hook(streaming);
    let agent = builder.hook(refuse.with_priority(900)).hook(saves()).build().unwrap();
    let passed = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(passed, ["hi", "= sorry"]);
}

#[test]
fn types_are_selected_and_the_end_is_always_there() {
    let script = Script::new().calls([read_call()]).says("one two");
    let (streaming, events) = Streaming::to_channel(1);
    let streaming = streaming.only([StreamType::ToolFinished]);
    let agent = ReActAgent::builder("bot").model(script).tool(read()).hook(streaming);
    let agent = agent.build().unwrap();
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(seen, ["read: text", "= one two"]);
}

#[test]
fn text_is_accumulated_by_choice() {
    let (streaming, events) = Streaming::to_channel(1);
    let agent = bot(&Script::new().says("one two three"), streaming.accumulated());
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(seen, ["one ", "one two ", "one two three", "= one two three"]);
}

#[test]
fn a_summary_is_text_too() {
    let script = Script::new().calls([read_call()]).says("so far");
    let (streaming, events) = Streaming::to_channel(1);
    let streaming = streaming.only([StreamType::Text]);
    let agent = ReActAgent::builder("bot").model(script).tool(read()).hook(streaming);
    let agent = agent.max_iters(1).build().unwrap();
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(seen, ["so ", "far", "= so far"]);
}

#[test]
fn a_tool_that_does_not_start_has_a_result_alone() {
    let refuse = on(|event: &mut PreActing<'_>| event.refuse("never"));
    let script = Script::new().calls([read_call()]).says("ok");
    let (streaming, events) = Streaming::to_channel(1);
    let agent = ReActAgent::builder("bot").model(script).tool(read()).hook(streaming);
    let agent = agent.hook(refuse).build().unwrap();
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert!(seen[0].starts_with("read: ") && seen[0].ends_with('!'), "{seen:?}");
    assert_eq!(seen[1..], ["ok", "= ok"]);
}

#[test]
fn a_call_that_resumes_is_a_run_of_its_own() {
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let script = Script::new().calls([read_call()]).says("ok");
    let (streaming, mut events) = Streaming::to_channel(16);
    let agent = ReActAgent::builder("bot").model(script).tool(read()).hook(streaming);
    let agent = agent.hook(ask).build().unwrap();
    let mut next =
        || std::iter::from_fn(|| events.try_recv()).map(|it| short(&it)).collect::<Vec<_>>();
    let reply = block_on(agent.call("Go")).unwrap();
    assert_eq!(next(), ["= "]);
    let options = CallOptions::new().confirm(reply.pending()[0].id.clone());
    block_on(agent.resume(options)).unwrap();
    let started = r#"read {"path":"/a"}"#;
    assert_eq!(next(), [started, "read.. half of it", "read: text", "ok", "= ok"]);
}

#[test]
fn a_failure_of_a_tool_is_no_failure_of_the_call() {
    let script = Script::new().calls([read_call()]);
    let (streaming, events) = Streaming::to_channel(1);
    let fails = Calls::new("read").fails("no such file");
    let agent = ReActAgent::builder("bot").model(script).tool(fails).hook(streaming);
    let agent = agent.build().unwrap();
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert!(seen[1].contains("no such file") && seen[1].ends_with('!'), "{seen:?}");
    assert_eq!(seen[2..], ["failed: model"]);
}

#[test]
fn a_failure_has_its_kind_and_none_of_its_text() {
    let secret = ModelError::blocked("secret");
    let (streaming, events) = Streaming::to_channel(1);
    let agent = bot(&Script::new().fails(secret), streaming);
    let seen = block_on(seen(async move { agent.call("Go").await }, events));
    assert_eq!(seen, ["failed: model"]);
}

#[test]
fn interrupts_and_dropped_calls_are_told() {
    let interrupt = Interrupt::new();
    let stop = interrupt.clone();
    let hook = on(move |_: &mut ReasoningChunk<'_>| stop.interrupt());
    let (streaming, events) = Streaming::to_channel(8);
    let script = Script::new().says("one two");
    let builder =
        ReActAgent::builder("bot").model(script).hook(streaming).hook(hook.with_priority(900));
    let agent = builder.build().unwrap();
    let options = CallOptions::new().interrupt(interrupt);
    let call = async move { agent.call_with(options, "Go").await };
    assert_eq!(block_on(seen(call, events)), ["one ", "failed: interrupted"]);

    let (streaming, events) = Streaming::to_channel(1);
    let agent = bot(&Script::new().says("one two"), streaming);
    // Nobody reads, so that the call waits at its second chunk, where it is dropped.
    let mut call = Box::pin(agent.call("Go"));
    assert!(futures::FutureExt::now_or_never(&mut call).is_none());
    drop(call);
    drop(agent);
    let seen: Vec<_> = block_on(all(events)).iter().map(short).collect();
    assert_eq!(seen, ["one ", "failed: cancelled"]);
}

#[test]
fn many_calls_of_many_agents_share_a_channel_and_each_run_is_in_order() {
    let text = numbers(20);
    let (streaming, events) = Streaming::to_channel(3);
    let agents: Vec<_> = ["a", "b"]
        .map(|name| {
            let text = text.clone();
            let model = ScriptedModel::new("count", move |_| text.clone());
            let builder = ReActAgent::builder(name).model(model).hook(streaming.clone());
            Arc::new(builder.build().unwrap())
        })
        .into_iter()
        .collect();
    drop(streaming);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let events = runtime.block_on(async move {
        let calls = (0..8).map(|number| {
            let options = CallOptions::new().thread(format!("t{number}"));
            tokio::spawn(agents[number % 2].clone().call_owned(options, "Go"))
        });
        let calls: Vec<_> = calls.collect();
        drop(agents);
        let reader = tokio::spawn(all(events));
        join_all(calls).await;
        reader.await.unwrap()
    });
    let mut runs: Vec<RunId> = events.iter().map(|event| event.run).collect();
    runs.sort_unstable_by_key(ToString::to_string);
    runs.dedup();
    assert_eq!(runs.len(), 8);
    for run in runs {
        let of_run: Vec<&AgentEvent> = events.iter().filter(|event| event.run == run).collect();
        assert!(of_run.iter().all(|event| event.thread == of_run[0].thread));
        let said: String = of_run
            .iter()
            .filter_map(|event| match &event.kind {
                AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(said, text);
        assert_eq!(short(of_run.last().unwrap()), format!("= {text}"));
    }
}

#[test]
fn events_of_a_sub_agent_have_its_parent() {
    let (streaming, events) = Streaming::to_channel(1);
    let poet = Script::new().says("Roses.");
    let poet = ReActAgent::builder("poet").model(poet).build().unwrap().to_tool("Poems");
    let call = ToolUse::new("1", "poet", json!({ "task": "a poem" }));
    let script = Script::new().calls([call]).says("Here.");
    let builder = ReActAgent::builder("bot").model(script).tool(poet).hook(streaming);
    let agent = builder.build().unwrap();
    let call = async move { agent.call("Go").await };
    let events = block_on(async { futures::future::join(call, all(events)).await.1 });
    let bot = events.iter().find(|event| &*event.agent == "bot").unwrap().run;
    let of_poet: Vec<_> = events.iter().filter(|event| &*event.agent == "poet").collect();
    assert!(of_poet.iter().all(|event| event.parent == Some(bot)));
    let of_poet: Vec<_> = of_poet.into_iter().map(short).collect();
    assert_eq!(of_poet, ["Roses.", "= Roses."]);
}

#[test]
fn each_event_is_json_and_a_server_sent_event() {
    let kinds = [
        (
            AgentEventKind::ReasoningChunk(ContentBlock::text("a\nb\r\n\u{2028}\"")),
            "reasoning_chunk",
        ),
        (AgentEventKind::SummaryChunk(ContentBlock::thinking("\n\n")), "summary_chunk"),
        (
            AgentEventKind::ToolStarted(ToolUse::new("1", "read", json!({ "a": "\n" }))),
            "tool_started",
        ),
        (AgentEventKind::Finished(Arc::new(Msg::assistant("bot", "done\n"))), "finished"),
        (AgentEventKind::Failed { kind: ErrorKind::Model }, "failed"),
        (AgentEventKind::Lagged { dropped: 3 }, "lagged"),
    ];
    for (kind, name) in kinds {
        let event = AgentEvent::new("bot", RunId::random(), kind);
        let sse = event.to_sse();
        // As a browser reads it.
        let body = sse.strip_suffix("\n\n").unwrap();
        let lines: Vec<_> = body.split(['\n', '\r']).collect();
        assert_eq!(lines.len(), 2, "{sse}");
        assert_eq!(lines[0].strip_prefix("event: "), Some(name));
        let data = lines[1].strip_prefix("data: ").unwrap();
        assert_eq!(serde_json::from_str::<AgentEvent>(data).unwrap(), event);
        assert_eq!(serde_json::from_str::<Value>(data).unwrap()["type"], name);
    }
}

#[test]
fn server_sent_events_of_a_call() {
    let (streaming, mut body) = Streaming::to_sse(16);
    let agent = bot(&Script::new().says("one\n\ndata: two"), streaming);
    block_on(agent.call("Go")).unwrap();
    drop(agent);
    let mut names = Vec::new();
    while let Some(event) = block_on(body.recv()) {
        assert_eq!(event.matches('\n').count(), 3, "{event}");
        names.push(event.split(['\n', ' ']).nth(1).unwrap().to_owned());
    }
    assert_eq!(names, ["reasoning_chunk", "reasoning_chunk", "finished"]);
}
