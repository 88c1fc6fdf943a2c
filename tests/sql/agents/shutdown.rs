//! Agents that shut down, and calls that wait for a thread.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join;
use futures::{StreamExt, poll};
use hooks_agent_core::event::ErrorEvent;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store};
use hooks_agent_core::stream::Behind;
use hooks_agent_core::tool::FunctionTool;
use hooks_fixtures::Records;
use serde_json::{Value, json};

use crate::agents::gate::Gate;
use crate::open::{LONG, address, open};

/// How long a call may wait for a thread that is free: less than a lease lasts.
const SOON: Duration = Duration::from_secs(20);

type Ran = Arc<Records<String>>;

/// An agent that runs a tool that waits, and one that does not.
fn agent(store: Arc<dyn Store>, gate: &Gate, ran: &Ran, at_once: bool) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
        match &*results {
            [] => ["wait", "note"]
                .map(|tool| ContentBlock::ToolUse(ToolUse::new(tool, tool, json!({}))))
                .to_vec()
                .into(),
            all => all.iter().map(|it| it.output.as_str()).collect::<Vec<_>>().join(", ").into(),
        }
    });
    let ran = ran.clone();
    let note = FunctionTool::new("note", "Notes.", move |_: Value| {
        ran.push("note".to_owned());
        async { "noted" }
    });
    let builder = ReActAgent::builder("clerk").model(model).tool(gate.tool("wait")).tool(note);
    builder.parallel_tools(at_once).store(store).build().unwrap()
}

fn soon() -> CallOptions {
    CallOptions::new().queue_timeout(SOON)
}

/// Shuts an agent down while a tool of it runs, and lets the tool end.
async fn shut_down_in_tool(agent: &ReActAgent, gate: &Gate) -> Result<Msg, AgentError> {
    let shutdown = async {
        gate.entered().await;
        let mut shutdown = pin!(agent.shutdown());
        assert!(poll!(&mut shutdown).is_pending(), "the tool runs");
        gate.open();
        shutdown.await;
    };
    join(agent.call("Go"), shutdown).await.0
}

#[tokio::test]
async fn a_call_ends_after_its_running_step_and_another_process_goes_on_at_once() {
    for at_once in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&address(folder.path()), LONG).await;
        let (gate, ran) = (Gate::new(), Ran::default());
        let first = agent(store.clone(), &gate, &ran, at_once);
        let error = shut_down_in_tool(&first, &gate).await.unwrap_err();
        assert!(matches!(&error, AgentError::ShutDown { agent } if agent == "clerk"), "{error:?}");
        let info = store.threads(Filter::all()).await.unwrap().remove(0);
        assert!(info.is_cut_off() && !info.is_owned);
        assert_eq!(ran.take().len(), usize::from(at_once), "what runs at once is the step");

        let second = agent(store.clone(), &Gate::new(), &ran, at_once);
        assert_eq!(second.resume(soon()).await.unwrap().text(), "passed, noted");
        assert_eq!(ran.take().len(), usize::from(!at_once));
    }
}

#[tokio::test]
async fn a_call_that_many_processes_leave_is_not_one_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let steps = |request: &ChatRequest| request.messages.iter().flat_map(Msg::tool_results).count();
    let deployments = 10;
    let agent = |gate: &Gate| {
        let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
            match steps(request) {
                step if step <= deployments => {
                    ToolUse::new(step.to_string(), "wait", json!({})).into()
                }
                steps => format!("{steps} steps").into(),
            }
        });
        let builder = ReActAgent::builder("clerk").model(model).tool(gate.tool("wait"));
        builder.max_iters(20).store(store.clone()).build().unwrap()
    };
    let shut_down = async |agent: ReActAgent, gate: Gate, ask: &[Msg]| {
        let shutdown = async {
            gate.entered().await;
            let mut shutdown = pin!(agent.shutdown());
            assert!(poll!(&mut shutdown).is_pending(), "the tool runs");
            gate.open();
            shutdown.await;
        };
        let ended = join(agent.call_with(soon(), ask.to_vec()), shutdown).await.0;
        assert!(matches!(ended, Err(AgentError::ShutDown { .. })), "{ended:?}");
    };
    for process in 0..deployments {
        let (gate, ask) = (Gate::new(), Msg::user("Go"));
        let ask = if process == 0 { vec![ask] } else { Vec::new() };
        shut_down(agent(&gate), gate, &ask).await;
    }
    let gate = Gate::new();
    gate.open();
    assert_eq!(agent(&gate).resume(soon()).await.unwrap().text(), "11 steps");
}

#[tokio::test]
async fn an_agent_that_shut_down_refuses_calls() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, ran) = (Gate::new(), Ran::default());
    let agent = agent(store, &gate, &ran, false);
    let queued = async {
        gate.entered().await;
        gate.open();
        let mut queued = pin!(agent.call("Me too"));
        assert!(poll!(&mut queued).is_pending());
        join(queued, agent.shutdown()).await.0
    };
    let (ended, queued) = join(agent.call("Go"), queued).await;
    for ended in [ended, queued, agent.call("Go").await] {
        assert!(matches!(ended, Err(AgentError::ShutDown { .. })), "{ended:?}");
    }
}

#[tokio::test]
async fn a_call_on_a_thread_in_memory_runs_to_its_end() {
    let (gate, ran) = (Gate::new(), Ran::default());
    let store: Arc<dyn Store> = Arc::new(hooks_agent_core::thread::MemoryStore::new());
    let agent = agent(store, &gate, &ran, false);
    let reply = shut_down_in_tool(&agent, &gate).await.unwrap();
    assert_eq!(reply.text(), "passed, noted");
}

#[tokio::test]
async fn no_hook_makes_a_reply_of_a_call_that_is_shut_down() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, ran) = (Gate::new(), Ran::default());
    let first = agent(store.clone(), &gate, &ran, false);
    let recover =
        on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("clerk", "All is well.")));
    first.register_agent_hook(recover);
    let ended = shut_down_in_tool(&first, &gate).await;
    assert!(matches!(ended, Err(AgentError::ShutDown { .. })), "{ended:?}");
    let second = agent(store, &Gate::new(), &ran, false);
    assert_eq!(second.resume(soon()).await.unwrap().text(), "passed, noted");
}

/// An agent whose sub-agent waits in a tool, and then notes.
fn editor(store: &Arc<dyn Store>, gate: &Gate, ran: &Ran) -> ReActAgent {
    let poet = agent(store.clone(), gate, ran, false);
    let model = ScriptedModel::new("editor", |request| -> ScriptedAnswer {
        match request.messages.iter().flat_map(Msg::tool_results).next() {
            Some(result) => format!("edited: {}", result.output).into(),
            None => ToolUse::new("1", "clerk", json!({ "task": "Go" })).into(),
        }
    });
    let editor = ReActAgent::builder("editor").model(model).tool(poet.to_tool("Writes."));
    editor.store(store.clone()).build().unwrap()
}

#[tokio::test]
async fn a_sub_agent_ends_after_its_running_step_too_and_goes_on_with_its_caller() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, ran) = (Gate::new(), Ran::default());
    let first = editor(&store, &gate, &ran);
    let ended = shut_down_in_tool(&first, &gate).await;
    let is_shut_down = matches!(&ended, Err(AgentError::ShutDown { agent }) if agent == "editor");
    assert!(is_shut_down && ran.take().is_empty(), "{ended:?}");
    let reply = editor(&store, &Gate::new(), &ran).resume(soon()).await.unwrap();
    assert_eq!((reply.text(), ran.take().len()), ("edited: passed, noted".to_owned(), 1));
}

#[tokio::test]
async fn a_stream_says_which_call_of_the_process_a_call_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, ran) = (Gate::new(), Ran::default());
    let agent = agent(store, &gate, &ran, false);
    let run = hooks_agent_core::call::RunId::random();
    let first = agent.call_with(CallOptions::new().run_id(run), "Go");
    let second = async {
        gate.entered().await;
        let mut events = agent.stream("And now?");
        let queued = events.next().await.unwrap().unwrap().kind;
        gate.open();
        let then = events.next().await.unwrap().unwrap().kind;
        (queued, then)
    };
    let (_, (queued, then)) = join(first, second).await;
    let behind = Behind::Call(Some(run));
    assert_eq!(queued, AgentEventKind::Queued { thread: "default".into(), behind });
    assert_eq!(then, AgentEventKind::Started);
}

#[tokio::test]
async fn a_stream_says_once_that_a_call_waits_for_the_lease_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let (gate, ran) = (Gate::new(), Ran::default());
    let owner = agent(store.clone(), &gate, &ran, false);
    let waiter = agent(store, &Gate::new(), &ran, false);
    let waits = async {
        gate.entered().await;
        let mut events = waiter.stream("And now?");
        let queued = events.next().await.unwrap().unwrap().kind;
        gate.open();
        (queued, events.next().await.unwrap().unwrap().kind)
    };
    let (_, (queued, then)) = join(owner.call("Go"), waits).await;
    let behind = Behind::Lease(LONG);
    assert_eq!(queued, AgentEventKind::Queued { thread: "default".into(), behind });
    assert_eq!(then, AgentEventKind::Started);
}
