//! Clients that leave.

use futures::StreamExt;
use hooks_agent_ag_ui::{AgUi, Caller};
use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http::serve;

fn storyteller() -> (ReActAgent, mpsc::UnboundedReceiver<bool>) {
    let (ends, ended) = mpsc::unbounded_channel();
    let model = ScriptedModel::new("storyteller", |_| "and then ".repeat(100_000));
    let settled = on(move |event: &mut Settled<'_>| {
        ends.send(matches!(event.outcome(), CallOutcome::Cancelled)).unwrap();
    });
    (ReActAgent::builder("bot").model(model).hook(settled).build().unwrap(), ended)
}

fn body() -> Value {
    json!({ "threadId": "t", "runId": "r", "messages": [{ "id": "a", "role": "user", "content": "go" }] })
}

#[tokio::test]
async fn dropping_the_events_cancels_the_call() {
    let (agent, mut ended) = storyteller();
    let server = AgUi::new(agent);
    let input = serde_json::from_value(body()).unwrap();
    let mut events = server.run(Caller::default(), input).await.unwrap();
    for _ in 0..5 {
        events.next().await.unwrap();
    }
    drop(events);
    assert_eq!(ended.recv().await, Some(true));
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_the_call() {
    let (agent, mut ended) = storyteller();
    let (url, _server) = serve(AgUi::new(agent).into_router().unwrap()).await;
    let mut response = reqwest::Client::new().post(&url).json(&body()).send().await.unwrap();
    let mut bytes = 0;
    while bytes < 1000 {
        bytes += response.chunk().await.unwrap().unwrap().len();
    }
    drop(response);
    assert_eq!(ended.recv().await, Some(true));
}

#[tokio::test]
async fn a_thread_is_free_after_its_client_left() {
    let (agent, mut ended) = storyteller();
    let server = AgUi::new(agent);
    let input = || serde_json::from_value(body()).unwrap();
    let mut events = server.run(Caller::default(), input()).await.unwrap();
    events.next().await.unwrap();
    drop(events);
    ended.recv().await.unwrap();
    let mut again = server.run(Caller::default(), input()).await.unwrap();
    assert!(again.next().await.is_some());
}
