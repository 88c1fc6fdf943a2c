//! Calls that are dropped or interrupted.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::future::join;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::error::InputError;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Acquired, Store, StoreError, ThreadKey};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::agents::gate::Gate;
use crate::open::{LONG, address, messages, open};
use crate::watched::{Moment, Operation, Watch, Watched};

/// How long a call may wait for a thread that nobody uses: less than a lease lasts.
const SOON: Duration = Duration::from_secs(20);

/// Notes what a call that waits for a lease does.
struct Waits {
    busy: Semaphore,
    withdrawn: Semaphore,
}

impl Waits {
    fn new() -> Arc<Self> {
        Arc::new(Self { busy: Semaphore::new(0), withdrawn: Semaphore::new(0) })
    }

    async fn busy(&self) {
        self.busy.acquire().await.unwrap().forget();
    }

    async fn withdrawn(&self) {
        self.withdrawn.acquire().await.unwrap().forget();
    }
}

impl Watch for Waits {
    fn hear(&self, operation: Operation, _: usize, moment: Moment) -> Result<(), StoreError> {
        if (operation, moment) == (Operation::Withdraw, Moment::After) {
            self.withdrawn.add_permits(1);
        }
        Ok(())
    }

    fn acquired(&self, acquired: &Acquired) {
        if *acquired == Acquired::Busy {
            self.busy.add_permits(1);
        }
    }
}

fn agent(store: impl Store, tool: impl Tool + 'static) -> ReActAgent {
    let name = tool.name().to_owned();
    let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("done: {}", result.output).into(),
            None if request.last_text() == "Go" => ToolUse::new("1", &name, json!({})).into(),
            None => request.messages.len().to_string().into(),
        }
    });
    ReActAgent::builder("clerk").model(model).tool(tool).store(store).build().unwrap()
}

fn unused() -> FunctionTool {
    FunctionTool::new("wait", "Waits.", async |_: Value| "passed")
}

/// Polls a call until a tool of the gate has started, and drops it.
async fn drop_in_tool(agent: &ReActAgent, gate: &Gate) {
    let call = pin!(agent.call("Go"));
    match futures::future::select(call, pin!(gate.entered())).await {
        futures::future::Either::Left((ended, _)) => panic!("{ended:?}"),
        futures::future::Either::Right(_) => {}
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_releases_its_thread_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let gate = Gate::new();
    let first = agent(store.clone(), gate.tool("wait"));
    drop_in_tool(&first, &gate).await;
    let soon = CallOptions::new().queue_timeout(SOON);
    let reply = agent(store, unused()).resume(soon).await.unwrap();
    assert!(reply.text().contains("outcome of this call is unknown"), "{}", reply.text());
    // The first agent reads what the other one wrote.
    assert_eq!(first.call("Again").await.unwrap().text(), "5");
}

#[tokio::test]
async fn a_call_after_one_that_was_dropped_works_in_the_same_agent() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let gate = Gate::new();
    let agent = agent(store.clone(), gate.tool("wait"));
    drop_in_tool(&agent, &gate).await;
    assert_eq!(agent.call("Again").await.unwrap().text(), "4");
    let stored = messages(&*store, &ThreadKey::new("clerk", "default").unwrap()).await;
    InputError::check_history(&stored).unwrap();
    let results: Vec<_> = stored.iter().flat_map(Msg::tool_results).collect();
    assert_eq!(results.len(), 1);
    assert!(results[0].output.as_str().contains("unknown"), "{results:?}");
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_waits_keeps_nobody_from_the_thread() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, waits) = (Gate::new(), Waits::new());
    let owner = agent(store.clone(), gate.tool("wait"));
    let waiter = agent(Watched::new(store.clone(), waits.clone()), unused());
    let held = owner.call("Go");
    let dropped = async {
        gate.entered().await;
        let waiting = pin!(waiter.call("Go"));
        let busy = pin!(waits.busy());
        let ended = futures::future::select(waiting, busy).await;
        assert!(matches!(ended, futures::future::Either::Right(_)), "it waits");
        drop(ended);
    };
    // The request is dropped at the end of `dropped`.
    let released = async {
        dropped.await;
        waits.withdrawn().await;
        gate.open();
    };
    let (done, ()) = join(held, released).await;
    assert_eq!(done.unwrap().text(), "done: passed");
    let other = Waits::new();
    let last = agent(Watched::new(store, other.clone()), unused());
    assert_eq!(last.call("Hello").await.unwrap().text(), "5");
    assert_eq!(other.busy.available_permits(), 0, "it did not wait");
}

#[tokio::test]
async fn a_call_that_waits_for_its_thread_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, waits) = (Gate::new(), Waits::new());
    let owner = agent(store.clone(), gate.tool("wait"));
    let waiter = agent(Watched::new(store.clone(), waits.clone()), unused());
    let interrupt = Interrupt::new();
    let interrupted = async {
        gate.entered().await;
        let call = waiter.call_with(CallOptions::new().interrupt(interrupt.clone()), "Go");
        let (reply, ()) = join(call, async {
            waits.busy().await;
            interrupt.interrupt();
        })
        .await;
        assert_eq!(reply.unwrap().reason, Some(GenerateReason::Interrupted));
        waits.withdrawn().await;
        gate.open();
    };
    let (done, ()) = join(owner.call("Go"), interrupted).await;
    assert_eq!(done.unwrap().text(), "done: passed");
    let last = agent(store, unused());
    assert_eq!(last.call("Hello").await.unwrap().text(), "5", "nothing of the interrupted call");
}

/// An agent with two tools that count; the second one waits for a while.
fn counting(store: impl Store, ran: &Arc<[AtomicUsize; 2]>, at_once: bool) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None if request.last_text() == "Go" => ["first", "second"]
                .map(|tool| ContentBlock::ToolUse(ToolUse::new(tool, tool, json!({}))))
                .to_vec()
                .into(),
            None => "again".into(),
        }
    });
    let tool = |name: &str, number: usize| {
        let ran = ran.clone();
        FunctionTool::new(name, "Counts.", move |_: Value| {
            let ran = ran.clone();
            async move {
                tokio::task::yield_now().await;
                ran[number].fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                "ran"
            }
        })
    };
    ReActAgent::builder("clerk")
        .model(model)
        .tool(tool("first", 0))
        .tool(tool("second", 1))
        .parallel_tools(at_once)
        .store(store)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_call_that_is_dropped_anywhere_never_says_of_a_tool_that_ran_that_it_did_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let mut checked = 0;
    for (at_once, is_interrupted) in [(false, false), (true, false), (false, true), (true, true)] {
        for most in 1.. {
            let ran = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let agent = counting(store.clone(), &ran, at_once);
            let thread = format!("{at_once}-{is_interrupted}-{most}");
            let on = || CallOptions::new().thread(&*thread).queue_timeout(SOON);
            let interrupt = Interrupt::new();
            let ended = {
                let options = on().interrupt(interrupt.clone());
                let mut call = pin!(agent.call_with(options, "Go"));
                let mut polls = 0;
                poll_fn(|cx| {
                    polls += 1;
                    match call.as_mut().poll(cx) {
                        Poll::Ready(reply) => Poll::Ready(Some(reply)),
                        Poll::Pending if polls < most => Poll::Pending,
                        Poll::Pending if is_interrupted => {
                            interrupt.interrupt();
                            Poll::Pending
                        }
                        Poll::Pending => Poll::Ready(None),
                    }
                })
                .await
            };
            let reply = agent.call_with(on(), "Again").await.unwrap();
            assert!(["again", "done"].contains(&&*reply.text()));
            let key = ThreadKey::new("clerk", &*thread).unwrap();
            let stored = messages(&*store, &key).await;
            InputError::check_history(&stored).unwrap_or_else(|it| panic!("{it}: {stored:#?}"));
            for result in stored.iter().flat_map(Msg::tool_results) {
                let ran = ran[usize::from(&*result.id == "second")].load(Ordering::Relaxed);
                let text = result.output.as_str();
                match text {
                    "ran" => assert_eq!(ran, 1),
                    _ if text.contains("unknown") => assert!(ran <= 1),
                    _ => assert_eq!(ran, 0, "{thread}: {text}"),
                }
                checked += 1;
            }
            if ended.is_some_and(|it| it.unwrap().reason == Some(GenerateReason::ModelStop)) {
                break;
            }
        }
    }
    println!("{checked} results of dropped and interrupted calls");
    assert!(checked > 40);
}
