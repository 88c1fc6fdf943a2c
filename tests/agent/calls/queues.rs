//! Calls that wait for their turn, and how calls end that share a task.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::{join, pending};
use futures::{FutureExt, StreamExt, poll};
use hooks_agent_core::agent::{Agent, AgentExt, CallOutcome};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, Flow, HookEvent};
use hooks_agent_core::message::{GenerateReason, Msg, ToolUse};
use hooks_agent_core::model::ScriptedModel;
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::stream::AgentEvent;
use hooks_agent_core::tool::{FunctionTool, ToolContext};
use hooks_core::{BoxFuture, Hookable, hook};
use hooks_fixtures::scripted_agents::{go, on, script, uses};
use hooks_fixtures::{Records, Reports};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

type Ends = Arc<Records<(String, CallOutcome)>>;

/// An agent that repeats its message and records the outcome of each call.
fn parrot(ends: &Ends) -> ReActAgentBuilder {
    let ends = ends.clone();
    ReActAgent::builder("parrot")
        .model(ScriptedModel::new("parrot", hooks_agent_core::model::ChatRequest::last_text))
        .hook(on(EventKind::Settled, move |event| {
            let thread = event.context().thread_id().to_owned();
            let HookEvent::Settled(event) = event else { unreachable!() };
            ends.push((thread, event.outcome().clone()));
            Ok(Flow::Continue)
        }))
}

/// An agent whose calls with the text `wait` wait forever, and with `panic` panic.
fn moody(ends: &Ends) -> ReActAgent {
    let agent = parrot(ends).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_REPLY,
        "mood",
        hook!(ReActAgent::PRE_REPLY, async |_, args| {
            match args.messages[0].text().as_str() {
                "wait" => pending::<()>().await,
                "panic" => panic!("as told"),
                _ => {}
            }
        }),
    );
    agent
}

/// A call that a hook of another one polls.
type Second = Arc<Mutex<Option<BoxFuture<'static, Result<Msg, AgentError>>>>>;

fn thread(id: &'static str) -> CallOptions {
    CallOptions::new().thread(id)
}

#[tokio::test]
async fn a_call_that_waits_beside_one_that_panics_is_cancelled() {
    for waits_first in [true, false] {
        let ends = Ends::default();
        let agent = moody(&ends);
        let waits = agent.call_with(thread("waits"), "wait").boxed();
        let panics = agent.call_with(thread("panics"), "panic").boxed();
        // Dropped while the panic goes through the task.
        let both = async move {
            if waits_first { join(waits, panics).await } else { join(panics, waits).await }
        };
        assert!(AssertUnwindSafe(both).catch_unwind().await.is_err());
        let mut ended = ends.take();
        ended.sort_by(|one, other| one.0.cmp(&other.0));
        let mut expected = vec![("panics".to_owned(), CallOutcome::Panicked)];
        // A call that was never polled has not begun.
        if waits_first {
            expected.push(("waits".to_owned(), CallOutcome::Cancelled));
        }
        assert_eq!(ended, expected);
    }
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_beside_one_that_panics_is_cancelled() {
    let ends = Ends::default();
    let agent = moody(&ends);
    let first = agent.call_with(thread("t"), "wait");
    let second = agent.call_with(thread("t"), "next");
    let panics = agent.call_with(thread("other"), "panic");
    let all = async move { join(join(first, second), panics).await };
    assert!(AssertUnwindSafe(all).catch_unwind().await.is_err());
    let mut outcomes = ends.take();
    outcomes.sort_by(|one, other| one.0.cmp(&other.0));
    let cancelled = || ("t".to_owned(), CallOutcome::Cancelled);
    assert_eq!(outcomes, [("other".to_owned(), CallOutcome::Panicked), cancelled(), cancelled()]);
    // Both have given their turn back.
    assert_eq!(agent.call_with(thread("t"), "free").await.unwrap().text(), "free");
}

#[tokio::test(start_paused = true)]
async fn a_call_fails_when_its_turn_does_not_come_in_time() {
    for id in [None, Some("t")] {
        let ends = Ends::default();
        let agent = moody(&ends);
        let options = || id.map_or_else(CallOptions::new, thread);
        let mut first = pin!(agent.call_with(options(), "wait"));
        assert!(poll!(&mut first).is_pending());
        let (before, after) = (Instant::now(), Duration::from_secs(5));
        let error = agent.call_with(options().queue_timeout(after), "late").await.unwrap_err();
        let AgentError::QueueTimeout { agent: name, thread, after: limit } = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (name.as_str(), thread.as_str(), limit),
            ("parrot", id.unwrap_or("default"), after)
        );
        assert_eq!(before.elapsed(), after);
        assert!(matches!(&ends.take()[..], [(_, CallOutcome::Failed(_))]));
        // The call before it still has its turn.
        assert!(poll!(&mut first).is_pending());
        let mut third = pin!(agent.call_with(options(), "third"));
        assert!(poll!(&mut third).is_pending());
        assert!(agent.memory().messages().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_the_queue_is_no_limit_of_the_call() {
    let gate = Arc::new(Notify::new());
    let agent = parrot(&Ends::default()).build().unwrap();
    let wait = gate.clone();
    agent.register_instance_hook(
        ReActAgent::PRE_REPLY,
        "gate",
        hook!(ReActAgent::PRE_REPLY, async move |_, _| wait.notified().await),
    );
    let limit = Duration::from_secs(5);
    let mut first = pin!(agent.call_with(CallOptions::new().queue_timeout(limit), "first"));
    assert!(poll!(&mut first).is_pending());
    let mut second = pin!(agent.call_with(CallOptions::new().queue_timeout(limit), "second"));
    assert!(poll!(&mut second).is_pending());
    tokio::time::advance(Duration::from_secs(4)).await;
    gate.notify_one();
    assert_eq!(first.await.unwrap().text(), "first");
    assert!(poll!(&mut second).is_pending());
    tokio::time::advance(Duration::from_mins(1)).await;
    assert!(poll!(&mut second).is_pending());
    gate.notify_one();
    assert_eq!(second.await.unwrap().text(), "second");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_ten_seconds_is_reported_once_with_its_cure() {
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    let _reporting = tracing::subscriber::set_default(reports);
    let agent = moody(&Ends::default());
    let mut first = pin!(agent.call_with(thread("t"), "wait"));
    assert!(poll!(&mut first).is_pending());
    let mut second = pin!(agent.call_with(thread("t"), "next"));
    assert!(poll!(&mut second).is_pending());
    tokio::time::advance(Duration::from_millis(9_999)).await;
    assert!(poll!(&mut second).is_pending());
    assert_eq!(records.take(), [] as [String; 0]);
    for _ in 0..3 {
        tokio::time::advance(Duration::from_secs(20)).await;
        assert!(poll!(&mut second).is_pending());
    }
    let [warning] = &records.take()[..] else { panic!("one warning") };
    for part in ["WARN", "agent=\"parrot\"", "thread=\"t\"", "child_of", "queue_timeout"] {
        assert!(warning.contains(part), "{warning}");
    }
}

#[tokio::test]
async fn an_interrupt_ends_a_call_that_waits_for_its_turn() {
    let ends = Ends::default();
    let agent = moody(&ends);
    let mut first = Box::pin(agent.call("wait"));
    assert!(poll!(&mut first).is_pending());
    let token = Interrupt::new();
    let mut second = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), "second"));
    assert!(poll!(&mut second).is_pending());
    let mut third = pin!(agent.call("third"));
    assert!(poll!(&mut third).is_pending());
    token.interrupt();
    let reply = second.await.unwrap();
    assert_eq!((reply.content.len(), reply.reason), (0, Some(GenerateReason::Interrupted)));
    assert_eq!(ends.take(), [("default".to_owned(), CallOutcome::Interrupted)]);
    assert!(agent.memory().messages().is_empty());
    assert!(poll!(&mut third).is_pending());
    drop(first);
    assert_eq!(third.await.unwrap().text(), "third");
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_waits_gives_its_place_to_the_next() {
    let ends = Ends::default();
    let agent = moody(&ends);
    let mut first = Box::pin(agent.call("wait"));
    assert!(poll!(&mut first).is_pending());
    let mut second = Box::pin(agent.call("second"));
    assert!(poll!(&mut second).is_pending());
    let mut third = pin!(agent.call("third"));
    assert!(poll!(&mut third).is_pending());
    drop(first);
    drop(second);
    assert_eq!(third.await.unwrap().text(), "third");
    let outcomes: Vec<_> = ends.take().into_iter().map(|(_, outcome)| outcome).collect();
    let finished = CallOutcome::Finished(Some(GenerateReason::ModelStop));
    assert_eq!(outcomes, [CallOutcome::Cancelled, CallOutcome::Cancelled, finished]);
}

#[tokio::test]
async fn the_next_call_of_a_thread_begins_once_subscribers_and_settled_hooks_are_through() {
    let (gate, heard) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let listener = parrot(&Ends::default()).build().unwrap();
    let (wait, told) = (gate.clone(), heard.clone());
    listener.register_instance_hook(
        ReActAgent::PRE_OBSERVE,
        "slow",
        hook!(ReActAgent::PRE_OBSERVE, async move |_, _| {
            told.notify_one();
            wait.notified().await;
        }),
    );
    let listener: Arc<dyn Agent> = Arc::new(listener);
    let begun = Arc::new(Records::<String>::new());
    let noted = begun.clone();
    let second = Second::default();
    let polled = second.clone();
    let agent = parrot(&Ends::default())
        .hook(on(EventKind::PreCall, move |event| {
            let HookEvent::PreCall(event) = event else { unreachable!() };
            noted.push(event.messages()[0].text());
            Ok(Flow::Continue)
        }))
        .hook(on(EventKind::Settled, move |_| {
            let taken = polled.lock().unwrap().take();
            if let Some(mut call) = taken {
                assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                *polled.lock().unwrap() = Some(call);
            }
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let agent: Arc<ReActAgent> = Arc::new(agent);
    agent.state().subscribe(&listener);
    let mut first = pin!(agent.call("first"));
    assert!(poll!(&mut first).is_pending());
    heard.notified().await;
    let other = agent.clone();
    let mut call: BoxFuture<'static, _> = Box::pin(async move { other.call("second").await });
    assert!(poll!(&mut call).is_pending());
    assert_eq!(begun.take(), ["first"]);
    *second.lock().unwrap() = Some(call);
    gate.notify_one();
    first.await.unwrap();
    assert_eq!(begun.take(), [] as [String; 0]);
    let call = second.lock().unwrap().take().unwrap();
    gate.notify_one();
    assert_eq!(call.await.unwrap().text(), "second");
}

#[tokio::test]
async fn a_child_call_that_runs_on_its_own_does_not_wait_for_a_stream_that_was_dropped() {
    let child = Arc::new(parrot(&Ends::default()).build().unwrap());
    let (said, tasks) = (Arc::new(Records::<String>::new()), Arc::new(Records::new()));
    let (noted, spawned) = (said.clone(), tasks.clone());
    let spawn = FunctionTool::with_context("spawn", "Spawns.", move |_: Value, cx: ToolContext| {
        let (child, noted) = (child.clone(), noted.clone());
        spawned.push(tokio::spawn(async move {
            let options = CallOptions::new().child_of(cx.call());
            noted.push(child.call_with(options, "child").await.unwrap().text());
        }));
        pending::<String>()
    });
    let (model, _) = script([uses([ToolUse::new("1", "spawn", json!({}))])]);
    let agent = ReActAgent::builder("bot").model(model).tool(spawn).build().unwrap();
    let mut stream = agent.stream(go());
    // The child has sent its first event and waits until it is read.
    let is_of_child = |event: &Option<Result<AgentEvent, AgentError>>| {
        event.as_ref().is_some_and(|event| &*event.as_ref().unwrap().agent == "parrot")
    };
    while !is_of_child(&stream.next().await) {}
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert!(said.take().is_empty());
    drop(stream);
    let [task] = &mut tasks.take()[..] else { panic!("one child") };
    for _ in 0..100 {
        if let Poll::Ready(ended) = poll!(&mut *task) {
            ended.unwrap();
            assert_eq!(said.take(), ["child"]);
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the child waits for a stream that is gone");
}
