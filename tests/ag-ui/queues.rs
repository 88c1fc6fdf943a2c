//! Inputs that wait, and clients that take nothing.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::Request;
use futures::{StreamExt, stream};
use hooks_agent_ag_ui::{AgUi, Caller, Refused, RunAgentInput, router};
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;

use crate::http::collect;

/// An agent whose first call waits for a signal.
fn waiting() -> (ReActAgent, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let told = go_on.clone();
    let wait = on!(async move |_: &mut PreReasoning<'_>| {
        told.notified().await;
        told.notify_one();
    });
    let model = ScriptedModel::new("words", |_| "one two");
    (ReActAgent::builder("bot").model(model).hook(wait).build().unwrap(), go_on)
}

fn body(thread: &str, id: usize, text: &str) -> Value {
    json!({ "threadId": thread, "runId": "r", "protocolVersion": "1.0",
        "messages": [{ "id": format!("m-{id}"), "role": "user", "content": text }] })
}

fn input(id: usize) -> RunAgentInput {
    serde_json::from_value(body("t", id, "hi")).unwrap()
}

fn request(body: impl Into<Body>, length: Option<usize>) -> Request<Body> {
    let request = Request::post("/").header("content-type", "application/json");
    let request = match length {
        Some(length) => request.header("content-length", length),
        None => request,
    };
    request.body(body.into()).unwrap()
}

#[tokio::test]
async fn more_requests_than_wait_on_a_thread_are_refused() {
    let (agent, go_on) = waiting();
    let server = AgUi::new(agent);
    let first = server.run(Caller::new("ada"), input(0)).await.unwrap();
    let mut queued: Vec<_> =
        (1..=16).map(|id| Box::pin(server.run(Caller::new("ada"), input(id)))).collect();
    for run in &mut queued {
        assert!(futures::poll!(run.as_mut()).is_pending());
    }
    let refused = server.run(Caller::new("ada"), input(17)).await.unwrap_err();
    assert_eq!((&refused, refused.status()), (&Refused::Busy, 429));
    assert_eq!(refused.body()["error"], "busy");
    // Other threads have a queue of their own, and those that wait have their turn.
    let other = server.run(Caller::new("bob"), input(0)).await.unwrap();
    go_on.notify_one();
    collect(first).await;
    collect(other).await;
    for run in queued {
        collect(run.await.unwrap()).await;
    }
    assert!(server.run(Caller::new("ada"), input(17)).await.is_ok());
}

#[tokio::test]
async fn inputs_that_wait_have_few_bytes_together() {
    let (agent, go_on) = waiting();
    let app = router(agent).unwrap();
    let large = body("t", 0, &"x".repeat(3_900_000)).to_string();
    let first = app.clone().oneshot(request(body("t", 9, "hi").to_string(), Some(100)));
    let first = first.await.unwrap();
    let send = || app.clone().oneshot(request(large.clone(), Some(large.len())));
    let mut queued: Vec<_> = (0..4).map(|_| Box::pin(send())).collect();
    for run in &mut queued {
        assert!(futures::poll!(run.as_mut()).is_pending());
    }
    let refused = send().await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"1".parse().unwrap())
    );
    // One without a length may be as large.
    let chunks = Body::from_stream(stream::iter([Ok::<_, std::io::Error>(Bytes::from("{}"))]));
    let refused = app.clone().oneshot(request(chunks, None)).await.unwrap();
    assert_eq!(refused.status(), 429);
    // They are taken again once those that waited run.
    go_on.notify_one();
    drop(first);
    for run in queued {
        let answer = run.await.unwrap();
        assert_eq!(answer.status(), 200);
        drop(answer);
    }
    assert_eq!(send().await.unwrap().status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_frees_its_thread() {
    let model = ScriptedModel::new("storyteller", |_| "and then ".repeat(10_000));
    let agent = Arc::new(ReActAgent::builder("bot").model(model).build().unwrap());
    let app = router(agent).unwrap();
    let stalled = app.clone().oneshot(request(body("t", 0, "go").to_string(), None)).await.unwrap();
    let mut stalled = stalled.into_body().into_data_stream();
    stalled.next().await.unwrap().unwrap();
    let other = app.oneshot(request(body("t", 1, "go").to_string(), None)).await.unwrap();
    assert_eq!(other.status(), 200);
    let mut frames = other.into_body().into_data_stream();
    assert!(frames.next().await.unwrap().unwrap().starts_with(b"data: "));
    // What waited for the stalled client ends without an end of the run.
    let mut rest = String::new();
    while let Some(Ok(frame)) = stalled.next().await {
        rest.push_str(std::str::from_utf8(&frame).unwrap());
    }
    assert!(!rest.contains("RUN_FINISHED"), "{}", rest.len());
}

#[tokio::test(start_paused = true)]
async fn an_input_that_does_not_arrive_is_not_waited_for() {
    let (agent, _) = waiting();
    let never = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    let answer = router(agent).unwrap().oneshot(request(never, None)).await.unwrap();
    assert_eq!(answer.status(), 408);
}
