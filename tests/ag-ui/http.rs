//! The transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use hooks_agent_ag_ui::{AgUi, Caller, Denied, RunEvents, router};
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::client::{types, verify};

/// Reads all events of a run.
pub(crate) async fn collect(events: RunEvents) -> Vec<Value> {
    events.map(|event| serde_json::to_value(event).unwrap()).collect().await
}

/// Serves a router on a free port until the set is dropped.
pub(crate) async fn serve(router: axum::Router) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, server)
}

fn agent() -> ReActAgent {
    let model = ScriptedModel::new("words", |_| "one two");
    ReActAgent::builder("bot").model(model).build().unwrap()
}

fn input() -> Value {
    json!({ "threadId": "t", "runId": "r", "protocolVersion": "1.0", "unknown": { "a": 1 },
        "messages": [{ "id": "a", "role": "user", "content": "hi", "more": 1 }] })
}

async fn post(url: &str, body: impl Into<reqwest::Body>) -> reqwest::Response {
    let client = reqwest::Client::new();
    client.post(url).header("content-type", "application/json").body(body).send().await.unwrap()
}

#[tokio::test]
async fn events_are_frames_with_data_alone() {
    let (url, _server) = serve(router(agent()).unwrap()).await;
    let response = post(&url, input().to_string()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = response.text().await.unwrap();
    assert!(!body.contains('\r') && body.ends_with("\n\n"));
    let frames: Vec<_> = body.trim_end().split("\n\n").collect();
    let events: Vec<Value> = frames
        .iter()
        .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
    verify(&events, &[]);
    assert_eq!(
        (types(&events)[0], *types(&events).last().unwrap()),
        ("RUN_STARTED", "RUN_FINISHED")
    );
    assert!(events.iter().all(|event| event["timestamp"].is_u64()));
}

#[tokio::test]
async fn the_last_event_comes_when_the_rest_of_the_call_is_done() {
    let done = Arc::<AtomicBool>::default();
    let set = done.clone();
    let settle = on(move |_: &mut Settled<'_>| set.store(true, Ordering::SeqCst));
    let model = ScriptedModel::new("words", |_| "one two");
    let agent = ReActAgent::builder("bot").model(model).hook(settle).build().unwrap();
    let (url, _server) = serve(router(agent).unwrap()).await;
    let mut response = post(&url, input().to_string()).await;
    let mut text = String::new();
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        if text.contains("RUN_FINISHED") {
            assert!(done.load(Ordering::SeqCst));
        }
    }
    assert!(text.contains("RUN_FINISHED"));
}

#[tokio::test]
async fn a_user_says_something_to_a_call_that_runs_on_a_thread_of_its_own() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let (opens, entered) = (gate.clone(), Arc::new(tokio::sync::Notify::new()));
    let enters = entered.clone();
    let wait = FunctionTool::new("wait", "Waits.", move |_: Value| {
        let (opens, enters) = (opens.clone(), enters.clone());
        async move {
            enters.notify_one();
            opens.notified().await;
            "passed"
        }
    });
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        let said = request.messages.iter().filter(|msg| msg.role == Role::User).count();
        match request.messages.last().unwrap().tool_results().next() {
            None if said == 1 => ToolUse::new("1", "wait", json!({})).into(),
            _ => format!("heard {}", request.last_text()).into(),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).tool(wait).steering(true).build().unwrap();
    let app = AgUi::new(agent).authenticate(|head| {
        let name = head.headers.get("x-user").and_then(|it| it.to_str().ok());
        let name = name.ok_or(Denied::Unauthenticated)?;
        Ok(Caller::new(name).user(name))
    });
    let (url, _server) = serve(app.into_router().unwrap()).await;
    let client = reqwest::Client::new();
    let send = |path: &str, user: Option<&str>, body: Value| {
        let request = client.post(format!("{url}{path}")).json(&body);
        user.into_iter().fold(request, |it, user| it.header("x-user", user)).send()
    };
    let say = |user, text: &str| {
        send("steer", user, json!({ "threadId": input()["threadId"], "text": text }))
    };
    assert_eq!(say(Some("ada"), "Hello?").await.unwrap().status(), 404);
    let run = tokio::spawn(send("", Some("ada"), input()));
    entered.notified().await;
    assert_eq!(say(None, "Pay me").await.unwrap().status(), 401);
    // Another scope has other threads.
    assert_eq!(say(Some("bob"), "Pay me").await.unwrap().status(), 404);
    assert_eq!(say(Some("ada"), " ").await.unwrap().status(), 400);
    let said = say(Some("ada"), "And hurry").await.unwrap();
    assert_eq!(said.status(), 202);
    assert_eq!(said.json::<Value>().await.unwrap(), json!({ "takenBy": "running" }));
    gate.notify_one();
    let text = run.await.unwrap().unwrap().text().await.unwrap();
    assert!(text.contains("hurry"), "{text}");
}

#[tokio::test]
async fn ag_14_inputs_that_are_none_of_the_protocol_are_refused() {
    let (url, _server) = serve(router(agent()).unwrap()).await;
    for body in [r#"{"threadId":1}"#, "not JSON", "[]"] {
        let response = post(&url, body).await;
        assert_eq!(response.status(), 400, "{body}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "malformed");
    }
    // Unknown members are ignored.
    assert_eq!(post(&url, input().to_string()).await.status(), 200);
    let client = reqwest::Client::new();
    let text = client.post(&url).body(input().to_string()).header("content-type", "text/plain");
    assert_eq!(text.send().await.unwrap().status(), 415);
    let large = vec![b' '; 4 * 1024 * 1024 + 1];
    assert_eq!(post(&url, large).await.status(), 413);
}

#[tokio::test]
async fn nobody_is_let_in_without_authentication() {
    let server = AgUi::new(agent()).authenticate(|request| {
        let user = request.headers.get("authorization").ok_or(Denied::Unauthenticated)?;
        match user.to_str() {
            Ok("Bearer ada") => Ok(Caller::new("ada")),
            _ => Err(Denied::Forbidden),
        }
    });
    let (url, _server) = serve(server.into_router().unwrap()).await;
    assert_eq!(post(&url, input().to_string()).await.status(), 401);
    assert_eq!(reqwest::get(&url).await.unwrap().status(), 401);
    let with = |token: &str| {
        let request = reqwest::Client::new().post(&url).bearer_auth(token);
        request.json(&input()).send()
    };
    assert_eq!(with("eve").await.unwrap().status(), 403);
    assert_eq!(with("ada").await.unwrap().status(), 200);
}

#[tokio::test]
async fn open_interrupts_are_a_conflict_with_their_ids() {
    let model = ScriptedModel::new("m", |_| ToolUse::new("c1", "pay", json!({})));
    let tool = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let agent = ReActAgent::builder("bot").model(model).tool(tool.permission(|_| Permission::Ask));
    let (url, _server) = serve(router(agent.build().unwrap()).unwrap()).await;
    post(&url, input().to_string()).await.text().await.unwrap();
    let mut more = input();
    more["messages"][0]["id"] = "b".into();
    let response = post(&url, more.to_string()).await;
    assert_eq!(response.status(), 409);
    let body: Value = response.json().await.unwrap();
    assert_eq!(
        (&body["error"], &body["ids"]),
        (&json!("interrupts_not_answered"), &json!(["int-c1"]))
    );
}

#[tokio::test]
async fn get_says_what_the_agent_can_do() {
    let (url, _server) = serve(AgUi::new(agent()).client_tools(false).into_router().unwrap()).await;
    let body: Value = reqwest::get(&url).await.unwrap().json().await.unwrap();
    serde_json::from_value::<ag_ui::AgentCapabilities>(body.clone()).unwrap();
    assert_eq!(body["humanInTheLoop"]["interrupts"], true);
    assert_eq!(body["humanInTheLoop"]["approveWithEdits"], true);
    assert_eq!(body["tools"]["clientProvided"], false);
    assert_eq!(body["reasoning"]["supported"], true);
    assert_eq!(body["multiAgent"]["supported"], true);
}

#[tokio::test]
async fn only_listed_origins_may_call_from_a_page() {
    let origin = "https://example.org";
    for (server, allowed) in
        [(AgUi::new(agent()), None), (AgUi::new(agent()).origins([origin]), Some(origin))]
    {
        let (url, _server) = serve(server.into_router().unwrap()).await;
        let response =
            reqwest::Client::new().get(&url).header("origin", origin).send().await.unwrap();
        let header = response.headers().get("access-control-allow-origin");
        assert_eq!(header.map(|it| it.to_str().unwrap()), allowed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_alive() {
    let (go_on, waits) = tokio::sync::oneshot::channel::<()>();
    let waits = tokio::sync::Mutex::new(Some(waits));
    let wait = on!(async move |_: &mut PreReasoning<'_>| {
        if let Some(waits) = waits.lock().await.take() {
            waits.await.unwrap();
        }
    });
    let model = ScriptedModel::new("words", |_| "one");
    let agent = ReActAgent::builder("bot").model(model).hook(wait).build().unwrap();
    let request = axum::http::Request::post("/")
        .header("content-type", "application/json")
        .body(axum::body::Body::from(input().to_string()))
        .unwrap();
    let response = tower::ServiceExt::oneshot(router(agent).unwrap(), request).await.unwrap();
    let mut frames = response.into_body().into_data_stream();
    for _ in 0..2 {
        // The paused clock goes on while nothing else does.
        let alive = |frame: axum::body::Bytes| frame.starts_with(b": keep-alive\n\n");
        while !alive(frames.next().await.unwrap().unwrap()) {}
    }
    go_on.send(()).unwrap();
    let mut rest = String::new();
    while let Some(frame) = frames.next().await {
        rest.push_str(std::str::from_utf8(&frame.unwrap()).unwrap());
    }
    assert!(rest.contains("RUN_FINISHED") && !rest.contains("keep-alive"));
}

#[tokio::test]
async fn a_star_is_no_origin() {
    for origins in [vec!["*"], vec!["*", "https://example.org"]] {
        let (url, _server) =
            serve(AgUi::new(agent()).origins(origins).into_router().unwrap()).await;
        let request = reqwest::Client::new().get(&url).header("origin", "https://evil.test");
        let response = request.send().await.unwrap();
        assert!(response.headers().get("access-control-allow-origin").is_none());
    }
}
