//! Calls and streams that own their agent.

use std::sync::Arc;

use futures::StreamExt;
use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::event::{PreReasoning, Settled};
use hooks_agent_core::hook::on;
use hooks_agent_core::on;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::stream::AgentEventKind;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{go, script};

#[tokio::test]
async fn a_call_of_a_shared_agent_can_be_spawned() {
    let (model, _) = script(["one", "two"]);
    let agent = Arc::new(ReActAgent::builder("bot").model(model).build().unwrap());
    let call = agent.clone().call_owned(CallOptions::new(), go());
    assert_eq!(tokio::spawn(call).await.unwrap().unwrap().text(), "one");
    let anyone: Arc<dyn Agent> = agent;
    let call = anyone.call_owned(CallOptions::new(), "go");
    assert_eq!(tokio::spawn(call).await.unwrap().unwrap().text(), "two");
}

#[tokio::test]
async fn a_stream_of_a_shared_agent_outlives_its_handle() {
    let (model, _) = script(["one"]);
    let agent = Arc::new(ReActAgent::builder("bot").model(model).build().unwrap());
    let weak = Arc::downgrade(&agent);
    let stream = agent.stream_owned(CallOptions::new().thread("t"), go());
    assert!(weak.upgrade().is_some());
    let read = tokio::spawn(async move {
        let events: Vec<_> = stream.map(Result::unwrap).collect().await;
        events
    });
    let events = read.await.unwrap();
    let AgentEventKind::Finished(reply) = &events.last().unwrap().kind else {
        panic!("{events:?}")
    };
    assert_eq!(reply.text(), "one");
    assert!(weak.upgrade().is_none());
}

#[tokio::test]
async fn a_dropped_stream_of_a_shared_agent_cancels_its_call() {
    let ends = Arc::new(Records::new());
    let noted = ends.clone();
    let settled = on(move |event: &mut Settled<'_>| noted.push(event.outcome().to_string()));
    let (model, _) = script(["one two"]);
    let agent = ReActAgent::builder("bot").model(model).hook(settled).build().unwrap();
    let mut stream = Arc::new(agent).stream_owned(CallOptions::new(), go());
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert_eq!(ends.take(), ["cancelled"]);
}

/// An agent that waits forever at its model, and the outcomes of its calls.
fn stuck() -> (Arc<ReActAgent>, Arc<Records<String>>) {
    let ends = Arc::new(Records::new());
    let noted = ends.clone();
    let settled = on(move |event: &mut Settled<'_>| noted.push(event.outcome().to_string()));
    let (model, _) = script(["one"]);
    let wait = on!(async |_: &mut PreReasoning<'_>| std::future::pending::<()>().await);
    let agent = ReActAgent::builder("bot").model(model).hook(settled).hook(wait).build().unwrap();
    (Arc::new(agent), ends)
}

#[tokio::test]
async fn a_call_or_stream_dropped_before_it_is_polled_has_not_begun() {
    let (agent, ends) = stuck();
    let weak = Arc::downgrade(&agent);
    drop(agent.clone().call_owned(CallOptions::new(), go()));
    drop(agent.stream_owned(CallOptions::new(), go()));
    assert!(weak.upgrade().is_none());
    assert_eq!(ends.take(), [""; 0]);
}

#[test]
fn a_call_is_settled_when_its_runtime_shuts_down() {
    let (agent, ends) = stuck();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (begun, wait) = std::sync::mpsc::channel();
    runtime.spawn({
        let agent = agent.clone();
        async move {
            let mut call = Box::pin(agent.call_owned(CallOptions::new(), go()));
            assert!(futures::poll!(&mut call).is_pending());
            begun.send(()).unwrap();
            call.await
        }
    });
    wait.recv().unwrap();
    drop(runtime);
    assert_eq!(ends.take(), ["cancelled"]);
}

#[tokio::test]
async fn a_stream_that_was_read_to_its_end_settles_once_and_stays_over() {
    let ends = Arc::new(Records::new());
    let noted = ends.clone();
    let settled = on(move |event: &mut Settled<'_>| noted.push(event.outcome().to_string()));
    let (model, _) = script(["one"]);
    let agent = ReActAgent::builder("bot").model(model).hook(settled).build().unwrap();
    let agent: Arc<dyn Agent> = Arc::new(agent);
    let mut stream = agent.stream_owned(CallOptions::new(), go());
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    assert!(stream.next().await.is_none());
    drop(stream);
    assert_eq!(ends.take(), ["finished"]);
}
