//! Limits of a call: every hook runs when calls nest, a model that never pauses can be interrupted,
//! long answers, arguments and results are limited; and names of hooks and threads mean one thing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::executor::block_on;
use futures::stream;
use hooks_agent_core::agent::{Agent, AgentExt, AgentPrintArgs, AgentReplyArgs, AgentSettledArgs};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, CallHooks};
use hooks_agent_core::message::{ContentBlock, GenerateReason, Msg, ToolResult, ToolUse};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError, ScriptedAnswer,
};
use hooks_agent_core::react::{Limits, ReActAgent, ReActAgentReasoningChunkArgs};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, ToolContext};
use hooks_core::{HookGroup, HookOptions, HookResult, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    Notes, assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use serde_json::{Value, json};

/// An agent with the tool `again`, which calls an agent on this very thread and waits for it.
fn nested(answers: usize) -> (Arc<ReActAgent>, Arc<std::sync::OnceLock<Arc<ReActAgent>>>) {
    let slot = Arc::new(std::sync::OnceLock::<Arc<ReActAgent>>::new());
    let inner = slot.clone();
    let again = FunctionTool::new("again", "Calls itself.", move |_: Value| {
        let agent = inner.get().unwrap().clone();
        async move {
            block_on(agent.call_with(CallOptions::new().thread("inner"), go())).unwrap().text()
        }
    });
    let calls = (0..answers).map(|number| match number {
        0 => uses([ToolUse::new("1", "again", json!({}))]),
        _ => "done".into(),
    });
    let (model, _) = script::<ScriptedAnswer>(calls);
    let agent = ReActAgent::builder("bot").model(model).tool(again).printer(|_| {}).build();
    let agent = Arc::new(agent.unwrap());
    slot.set(agent.clone()).unwrap();
    (agent, slot)
}

#[tokio::test]
async fn no_hook_is_skipped_in_a_call_inside_of_another() {
    let (agent, _slot) = nested(3);
    let notes = Notes::default();
    agent.register_agent_hook(notes.clone());
    let (printed, chunks, settled) =
        (Arc::new(Records::new()), Arc::new(Records::new()), Arc::new(Records::new()));
    let seen = printed.clone();
    agent.register_instance_hook(
        ReActAgent::PRE_PRINT,
        "print",
        move |_: &ReActAgent, _: &mut AgentPrintArgs| {
            seen.push("print");
        },
    );
    let seen = chunks.clone();
    agent.register_instance_hook(
        ReActAgent::PRE_REASONING_CHUNK,
        "chunk",
        move |_: &ReActAgent, _: &mut ReActAgentReasoningChunkArgs| seen.push("chunk"),
    );
    let seen = settled.clone();
    agent.register_instance_hook(
        ReActAgent::PRE_SETTLED,
        "settled",
        move |_: &ReActAgent, args: &mut AgentSettledArgs| seen.push(args.outcome.clone()),
    );
    agent.call(go()).await.unwrap();
    let kinds = notes.0.take();
    for (kind, times) in [
        (EventKind::PreCall, 2),
        (EventKind::PreReasoning, 3),
        (EventKind::ReasoningChunk, 3),
        (EventKind::PostReasoning, 3),
        (EventKind::PreActing, 1),
        (EventKind::PostCall, 2),
        (EventKind::Settled, 2),
    ] {
        assert_eq!(kinds.iter().filter(|seen| **seen == kind).count(), times, "{kind}");
    }
    assert_eq!((printed.take().len(), chunks.take().len(), settled.take().len()), (2, 3, 2));
}

#[tokio::test]
async fn hooks_of_print_and_chunks_run_when_a_hook_of_them_calls_them() {
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let printed = Arc::new(Records::new());
    let seen = printed.clone();
    agent.register_instance_hook(
        ReActAgent::PRE_PRINT,
        "twice",
        move |agent: &ReActAgent, args: &mut AgentPrintArgs| {
            seen.push(args.text.clone());
            if &*args.text == "done" {
                agent.print("from a hook");
            }
        },
    );
    agent.call(go()).await.unwrap();
    assert_eq!(printed.take(), ["done", "from a hook"]);
}

#[tokio::test]
async fn a_settled_hook_that_drops_another_call_of_the_agent_loses_no_event() {
    let notes = Notes::default();
    let waits = FunctionTool::new("waits", "Waits.", async |_: Value| {
        std::future::pending::<()>().await;
        "never"
    });
    let (model, _) = script([uses([ToolUse::new("1", "waits", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(waits).hook(notes.clone());
    let agent: &'static ReActAgent = Box::leak(Box::new(agent.build().unwrap()));
    let mut other = Box::pin(agent.call_with(CallOptions::new().thread("other"), go()));
    assert!(futures::poll!(&mut other).is_pending());
    let other = std::sync::Mutex::new(Some(other));
    agent.register_instance_hook(
        ReActAgent::PRE_SETTLED,
        "drop",
        move |_: &ReActAgent, _: &mut AgentSettledArgs| {
            let other = other.lock().unwrap().take();
            drop(other);
        },
    );
    agent.call(go()).await.unwrap();
    let settled = notes.0.take().into_iter().filter(|kind| *kind == EventKind::Settled).count();
    assert_eq!(settled, 2);
}

/// A model that always has one more chunk, and counts them.
struct Endless(Arc<AtomicUsize>, fn() -> ChatChunk);

impl ChatModel for Endless {
    fn name(&self) -> &'static str {
        "endless"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let (count, chunk) = (self.0.clone(), self.1);
        Box::pin(stream::repeat_with(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, ModelError>(chunk())
        }))
    }
}

fn endless(chunk: fn() -> ChatChunk, limit: usize) -> (ReActAgent, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let model = Endless(count.clone(), chunk);
    let agent = ReActAgent::builder("bot").model(model).limits(Limits::new().answer(limit));
    (agent.build().unwrap(), count)
}

fn word() -> ChatChunk {
    ChatChunk::Text("word ".to_owned())
}

#[tokio::test]
async fn a_model_that_never_pauses_lets_other_tasks_interrupt_it() {
    let (agent, count) = endless(word, usize::MAX);
    let token = Interrupt::new();
    let call = agent.call_with(CallOptions::new().interrupt(token.clone()), go());
    let (reply, ()) = futures::join!(call, async { token.interrupt() });
    assert_eq!(reply.unwrap().reason, Some(GenerateReason::Interrupted));
    assert!(count.load(Ordering::Relaxed) < 10_000);
    assert_valid(&agent);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_pauses_can_be_timed_out() {
    let (agent, _) = endless(word, usize::MAX);
    // The clock is turned by another task of the thread.
    let clock = async {
        loop {
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    };
    let call = tokio::time::timeout(Duration::from_secs(1), agent.call(go()));
    tokio::select! {
        ended = call => assert!(ended.is_err()),
        () = clock => unreachable!(),
    }
    assert_valid(&agent);
}

#[tokio::test]
async fn an_answer_is_limited_whatever_it_is_made_of() {
    let chunks: [fn() -> ChatChunk; 5] = [
        word,
        || ChatChunk::Text(String::new()),
        || ChatChunk::Thinking("hm ".to_owned()),
        || ChatChunk::Signature("s".to_owned()),
        || ChatChunk::ToolUse(echo("", "x")),
    ];
    for chunk in chunks {
        let (agent, count) = endless(chunk, 4096);
        let error = agent.call(go()).await.unwrap_err();
        assert!(
            matches!(error, AgentError::Model(ModelError::TooLong { limit: 4096, .. })),
            "{error:?}"
        );
        // Up to 1,024 empty chunks are left out before the first one.
        assert!(count.load(Ordering::Relaxed) <= 4100 + 1024);
        // Nothing of it is kept.
        assert_eq!(agent.memory().messages().len(), 1);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn long_invalid_arguments_are_cut_with_a_note() {
    let written = "é".repeat(50_000);
    let call = ToolUse::invalid("1", "echo", written);
    let (model, requests) = script([uses([call]), "done".into()]);
    let ran = Arc::default();
    let limits = Limits::new().arguments(1001);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).limits(limits);
    let agent = agent.build().unwrap();
    agent.call(go()).await.unwrap();
    let [(_, output)] = &results(&agent)[..] else { panic!("one result") };
    assert!(output.starts_with("! ") && output.len() < 1400, "{}", output.len());
    assert!(output.contains("[cut: these are the first 1000 of 100000 bytes]"), "{output}");
    // The request that goes to the model holds no more of it than that.
    let last = requests.take().pop().unwrap();
    let sent: usize = last
        .messages
        .iter()
        .flat_map(hooks_agent_core::message::Msg::tool_results)
        .map(|result| result.output.as_str().len())
        .sum();
    assert!(sent < 1400);
    assert_eq!(ran.take(), [] as [String; 0]);
}

#[tokio::test]
async fn long_results_are_cut_with_a_note_whoever_gives_them() {
    for by_hook in [false, true] {
        let (model, _) = script([uses([echo("1", &"é".repeat(1000))]), "done".into()]);
        let hook = on(EventKind::PostActing, move |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            if by_hook {
                event.tool_result_mut().output = "é".repeat(1000).into();
            }
            Ok(Flow::Continue)
        });
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&Arc::default()))
            .limits(Limits::new().result(101))
            .hook(hook)
            .build()
            .unwrap();
        agent.call(go()).await.unwrap();
        let [(_, output)] = &results(&agent)[..] else { panic!("one result") };
        let expected = format!("{}\n[cut: these are the first 100 of 2000 bytes]", "é".repeat(50));
        assert_eq!(*output, expected);
    }
}

#[tokio::test]
async fn ten_thousand_calls_of_one_id_are_told_apart() {
    const CALLS: usize = 10_000;
    for id in ["same", ""] {
        let calls = (0..CALLS).map(|number| echo(id, &number.to_string()));
        let (model, _) = script([uses(calls), "done".into()]);
        let ran = Arc::new(Records::new());
        let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).build().unwrap();
        agent.call(go()).await.unwrap();
        assert_eq!(ran.take().len(), CALLS);
        let mut ids: Vec<_> = results(&agent).into_iter().map(|(id, _)| id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), CALLS);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn the_thread_named_default_is_that_of_calls_without_one() {
    let (model, _) = script(["one", "two"]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let named = || CallOptions::new().thread(CallContext::DEFAULT_THREAD);
    agent.call(go()).await.unwrap();
    agent.call_with(named(), go()).await.unwrap();
    assert_eq!(agent.memory().messages().len(), 4);
    let memory = agent.threads().memory(CallContext::DEFAULT_THREAD).unwrap();
    assert_eq!(memory.messages(), agent.memory().messages());
    assert_eq!(agent.context(named()).thread_id(), agent.context(CallOptions::new()).thread_id());
    assert!(agent.threads().forget(CallContext::DEFAULT_THREAD));
    assert!(agent.memory().messages().is_empty());
}

#[tokio::test]
async fn names_of_event_hooks_and_method_hooks_do_not_touch() {
    let notes = Notes::default();
    let (model, _) = script(["one", "two", "three"]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let ran = Arc::new(Records::new());
    let seen = ran.clone();
    agent.register_instance_hook(
        ReActAgent::POST_REASONING,
        "Notes",
        hook!(ReActAgent::POST_REASONING, async move |_, _, _| seen.push("method")),
    );
    agent.register_agent_hook(notes.clone());
    agent.call(go()).await.unwrap();
    assert_eq!((ran.take().len(), notes.0.take().is_empty()), (1, false));
    agent.register_agent_hook(notes.clone());
    agent.call(go()).await.unwrap();
    let kinds = notes.0.take();
    assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::PreCall).count(), 1);
    assert_eq!(ran.take().len(), 1);
    agent.remove_agent_hook("Notes").unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!((ran.take().len(), notes.0.take().is_empty()), (1, true));
    agent.remove_agent_hook("Notes").unwrap_err();
}

#[tokio::test]
async fn a_hook_that_was_built_twice_is_removed_by_one_remove() {
    let notes = Notes::default();
    let (model, _) = script(["one"]);
    let agent = ReActAgent::builder("bot").model(model).hook(notes.clone()).hook(notes.clone());
    let agent = agent.build().unwrap();
    agent.register_call_hook(notes.clone());
    agent.remove_agent_hook("Notes").unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(notes.0.take(), []);
}

/// What `PostActing` says that ran, and the result in memory.
async fn after_tool(
    register: impl FnOnce(&ReActAgent),
) -> (Vec<String>, Vec<String>, Option<ToolUse>) {
    let (ran, told) = (Arc::new(Records::new()), Arc::new(Records::new()));
    let (model, _) = script([uses([echo("1", "asked")]), "done".into()]);
    let seen = told.clone();
    let look = on(EventKind::PostActing, move |event| {
        let HookEvent::PostActing(event) = event else { unreachable!() };
        let call = event.tool_use();
        seen.push(format!("{} {}", call.name, call.input));
        Ok(Flow::Continue)
    });
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).hook(look);
    let agent = agent.build().unwrap();
    register(&agent);
    agent.call(go()).await.unwrap();
    assert_valid(&agent);
    let messages = agent.memory().messages();
    let result =
        messages.iter().flat_map(hooks_agent_core::message::Msg::tool_results).next().unwrap();
    (ran.take(), told.take(), result.ran.as_deref().cloned())
}

#[tokio::test]
async fn a_result_names_the_call_that_a_hook_around_the_tool_let_run() {
    let (ran, told, named) = after_tool(|agent| {
        agent.register_instance_hook(
            ReActAgent::AROUND_TOOL_CALL,
            "change",
            hook!(ReActAgent::AROUND_TOOL_CALL, async |_, mut args, next| {
                args.call = echo("other", "changed").into();
                next.run(args).await
            }),
        );
    })
    .await;
    assert_eq!(
        (ran, told),
        (vec!["changed".to_owned()], vec![r#"echo {"text":"changed"}"#.into()])
    );
    assert_eq!(named.unwrap().input, json!({ "text": "changed" }));
}

#[tokio::test]
async fn a_result_that_a_hook_gives_instead_of_the_tool_names_no_call() {
    let (ran, _, named) = after_tool(|agent| {
        agent.register_instance_hook(
            ReActAgent::AROUND_TOOL_CALL,
            "replace",
            hook!(ReActAgent::AROUND_TOOL_CALL, async |_, args, _| {
                Ok(ToolResult::success(&args.call, "cached"))
            }),
        );
    })
    .await;
    assert_eq!((ran.len(), named), (0, None));
}

/// A task of the tool that outlives it cannot keep the call busy with its reports.
#[tokio::test]
async fn reports_of_a_tool_that_has_ended_do_not_keep_the_call() {
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    let floods = FunctionTool::with_context(
        "floods",
        "Reports without end.",
        move |_: Value, cx: ToolContext| {
            let over = over.clone();
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    cx.progress("more");
                }
            });
            async { "done" }
        },
    );
    let (model, _) = script([uses([ToolUse::new("1", "floods", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(floods).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    is_over.store(true, Ordering::Relaxed);
}

#[tokio::test]
async fn a_stream_of_an_answer_that_is_too_long_ends_with_the_error() {
    let (agent, _) = endless(word, 4096);
    let events: Vec<_> = agent.stream(Msg::user("go")).collect().await;
    assert!(events.last().unwrap().is_err());
}

#[tokio::test]
async fn what_is_exactly_as_long_as_its_limit_is_taken_whole() {
    let (model, _) = script([uses([echo("a", "four")]), "done".into()]);
    let limits = Limits::new().result(4);
    let builder = ReActAgent::builder("bot").model(model).limits(limits);
    let agent = builder.tool(echo_tool(&Arc::default())).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), [("a".to_owned(), "four".to_owned())]);

    let (model, _) = script(["four", "more?"]);
    let limits = Limits::new().answer(4);
    let agent = ReActAgent::builder("bot").model(model).limits(limits).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "four");
    agent.call(go()).await.unwrap_err();
}

#[tokio::test]
async fn signatures_redacted_thoughts_and_invalid_arguments_count_by_their_length() {
    let chunks: [fn() -> ChatChunk; 3] = [
        || ChatChunk::Signature("s".repeat(512)),
        || ChatChunk::RedactedThinking("r".repeat(512)),
        || ChatChunk::ToolUse(ToolUse::invalid("", "echo", "i".repeat(512))),
    ];
    for chunk in chunks {
        let (agent, count) = endless(chunk, 4096);
        agent.call(go()).await.unwrap_err();
        assert!(count.load(Ordering::Relaxed) <= 9, "{count:?}");
    }
}

#[tokio::test]
async fn ids_are_unique_also_beside_those_that_were_made_unique() {
    let calls = ["a", "a", "a_2", "b", "b"].map(|id| echo(id, id));
    let (model, _) = script([uses(calls), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = agent.build().unwrap();
    let mut streamed = std::collections::HashSet::new();
    let mut events = agent.stream(go());
    while let Some(event) = events.next().await {
        if let AgentEventKind::ReasoningChunk(ContentBlock::ToolUse(call)) = event.unwrap().kind {
            assert!(streamed.insert(call.id.clone()), "{call:?}");
        }
    }
    drop(events);
    let ids: std::collections::HashSet<_> = results(&agent).into_iter().map(|it| it.0).collect();
    assert_eq!((ids.len(), &ids), (5, &streamed));
    assert_valid(&agent);
}

/// Waits at each progress of a tool, then notes that it is done.
struct Slowly(Arc<Records<String>>);

impl AgentHook for Slowly {
    fn events(&self) -> EventMask {
        EventKind::ActingChunk.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::ActingChunk(event) = event else { unreachable!() };
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.0.push(event.chunk().to_owned());
        Ok(Flow::Continue)
    }
}

#[tokio::test]
async fn a_hook_of_progress_runs_to_its_end_though_the_tool_has_ended() {
    let tells = FunctionTool::with_context("tells", "Tells.", async |_: Value, cx: ToolContext| {
        cx.progress("half");
        tokio::task::yield_now().await;
        "whole"
    });
    let (model, _) = script([uses([ToolUse::new("1", "tells", json!({}))]), "done".into()]);
    let told = Arc::new(Records::new());
    let builder = ReActAgent::builder("bot").model(model).tool(tells);
    let agent = builder.hook(Slowly(told.clone())).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(told.take(), ["half"]);
}

#[tokio::test]
async fn what_is_reported_after_the_end_of_a_tool_is_told_to_nobody() {
    let kept = Arc::new(std::sync::Mutex::new(None::<ToolContext>));
    let keeps = kept.clone();
    let tells = FunctionTool::with_context("tells", "Tells.", move |_: Value, cx: ToolContext| {
        cx.progress("in time");
        *keeps.lock().unwrap() = Some(cx);
        async { "done" }
    });
    let (model, _) = script([uses([ToolUse::new("1", "tells", json!({}))]), "done".into()]);
    let told = Arc::new(Records::new());
    let noted = told.clone();
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(tells)
        .hook(on(EventKind::ActingChunk, move |event| {
            let HookEvent::ActingChunk(event) = event else { unreachable!() };
            noted.push(event.chunk().to_owned());
            if let Some(cx) = kept.lock().unwrap().take() {
                cx.progress("too late");
            }
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(told.take(), ["in time"]);
}

#[tokio::test]
async fn hooks_of_all_agents_are_removed_by_either_method_and_other_groups_stay() {
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let name = format!("on {}", EventKind::PreCall);
    agent.register_call_hook(on(EventKind::PreCall, |_| Ok(Flow::Continue)));
    agent.remove_agent_hook(&name).unwrap();
    agent.remove_agent_hook(&name).unwrap_err();

    let options = HookOptions::named(name.clone()).group(HookGroup::new("of my own"));
    let pass = |_: &ReActAgent, _: &mut AgentReplyArgs| {};
    agent.register_instance_hook(ReActAgent::PRE_REPLY, options, pass);
    agent.remove_call_hook(&name).unwrap_err();
    assert!(agent.has_hooks(ReActAgent::PRE_REPLY));
}
