//! Messages from the page, and interrupts.

use std::sync::Arc;

use hooks_agent_core::call::User;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{calls_then, clerk, open, says};

#[tokio::test]
async fn a_message_of_the_page_is_a_call_on_its_thread() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(says("Hello.")).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio.clone().agent(agent.clone()).allow_chat(true)).await;
    let mut stream = browser.events(None).await;

    let answer = browser.post("/api/threads/clerk/ada/messages", &json!({ "text": "Hi" })).await;

    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    let run = answer.json::<Value>().await.unwrap()["run"].clone();
    stream.until_settled().await;
    let runs = browser.runs().await;
    assert_eq!((&runs[0]["run"], &runs[0]["thread"]), (&run, &json!("ada")));
    assert_eq!(agent.threads().memory("ada").unwrap().messages().len(), 2);
    let agents = browser.json("/api/agents").await;
    assert_eq!(agents["agents"][0]["chat"], true);

    for (path, body, status) in [
        ("/api/threads/nobody/ada/messages", json!({ "text": "Hi" }), 404),
        ("/api/threads/clerk/ada/messages", json!({ "text": " " }), 422),
        ("/api/threads/clerk/ada/messages", json!({ "words": "Hi" }), 400),
        ("/api/threads/clerk/%00/messages", json!({ "text": "Hi" }), 422),
    ] {
        assert_eq!(browser.post(path, &body).await.status(), status, "{path} {body}");
    }
}

#[tokio::test]
async fn what_a_person_says_to_a_run_comes_to_its_model_or_to_the_next_one() {
    let studio = Studio::new().authenticate(|head| {
        let name = head.headers.get("x-user")?.to_str().ok()?.to_owned();
        Some(User::new(name))
    });
    let model = ScriptedModel::new("echo", |request| format!("re: {}", request.last_text()));
    let agent = ReActAgent::builder("clerk").model(model).steering(true).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let deaf = Arc::new(ReActAgent::builder("deaf").model(says("Hello.")).build().unwrap());
    let studio = studio.clone().agent(agent.clone()).agent(deaf.clone()).allow_chat(true);
    let browser = open(&studio).await;
    let say = async |path: &str, user: Option<&str>| {
        let request = browser.request(reqwest::Method::POST, path).json(&json!({ "text": "Hi" }));
        let request = user.into_iter().fold(request, |it, user| it.header("x-user", user));
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let path = "/api/threads/clerk/monday/steer";
    assert_eq!(say(path, Some("ada")).await.0, 404);
    let on_monday = || CallOptions::new().thread("monday").user("ada");
    agent.call_with(on_monday(), "Hello").await.unwrap();
    deaf.call_with(on_monday(), "Hello").await.unwrap();
    assert_eq!(say(path, None).await.0, 403);
    assert_eq!(say(path, Some("bob")).await.1["error"], "other_user");
    let (status, refused) = say("/api/threads/deaf/monday/steer", Some("ada")).await;
    assert_eq!((status, &refused["error"]), (403, &json!("steering")));
    assert_eq!(say(path, Some("ada")).await, (202, json!({ "taken_by": "waiting" })));
    agent.call_with(on_monday(), "Bye").await.unwrap();
    let history = agent.threads().memory("monday").unwrap().messages();
    let texts: Vec<_> = history.iter().map(Msg::text).collect();
    assert_eq!(texts, ["Hello", "re: Hello", "Hi", "Bye", "re: Bye"]);
    let agents = browser.json("/api/agents").await;
    assert_eq!(
        (&agents["agents"][0]["steers"], &agents["agents"][1]["steers"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn nobody_writes_unless_the_program_allows_it() {
    let studio = Studio::new();
    let agent = Arc::new(ReActAgent::builder("clerk").model(says("Hello.")).build().unwrap());
    let browser = open(&studio.agent(agent.clone())).await;
    let answer = browser.post("/api/threads/clerk/ada/messages", &json!({ "text": "Hi" })).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    assert!(agent.threads().memory("ada").is_none_or(|memory| memory.is_empty()));
}

#[tokio::test]
async fn a_message_while_a_question_waits_fails_that_call_alone() {
    let studio = Studio::new();
    let clerk = clerk(&studio, |builder| builder);
    let browser = open(&studio.clone().agent(clerk.agent.clone()).allow_chat(true)).await;
    clerk.agent.call("Pay").await.unwrap();
    let mut stream = browser.events(None).await;

    browser.post("/api/threads/clerk/default/messages", &json!({ "text": "Hi" })).await;

    let settled = stream.until_settled().await.pop().unwrap();
    assert_eq!(settled.data["data"]["outcome"], "failed");
    assert_eq!(browser.runs().await[0]["error"], "input");
    assert_eq!(browser.question().await["tool"], "pay");
}

/// An agent whose tool tells that it runs, and never ends.
fn stuck(studio: &Studio) -> (ReActAgent, Arc<Notify>) {
    let runs = Arc::new(Notify::new());
    let told = runs.clone();
    let wait = FunctionTool::new("wait", "Waits.", move |_: Value| {
        let told = told.clone();
        async move {
            told.notify_one();
            std::future::pending::<String>().await
        }
    });
    let model = calls_then("wait", json!({}), "Done.");
    let agent = ReActAgent::builder("clerk").model(model).tool(wait).hook(studio.hook());
    (agent.build().unwrap(), runs)
}

#[tokio::test]
async fn a_running_call_is_interrupted() {
    let studio = Studio::new();
    let (agent, runs) = stuck(&studio);
    let browser = open(&studio).await;
    let call = tokio::spawn(async move { agent.call("Go").await });
    runs.notified().await;
    let run = browser.runs().await[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(browser.runs().await[0]["state"], "running");

    let path = format!("/api/runs/{run}/interrupt");
    assert_eq!(browser.post(&path, &json!({})).await.status(), StatusCode::ACCEPTED);

    let reply = call.await.unwrap().unwrap();
    assert_eq!(reply.reason, Some(hooks_agent_core::message::GenerateReason::Interrupted));
    assert_eq!(browser.runs().await[0]["state"], "interrupted");
    assert_eq!(browser.post(&path, &json!({})).await.status(), StatusCode::CONFLICT);
}

#[tokio::test]
async fn nobody_interrupts_a_call_without_signing_in() {
    let studio = Studio::new().authenticate(|_| None);
    let (agent, runs) = stuck(&studio);
    let browser = open(&studio).await;
    let call = tokio::spawn(async move { agent.call("Go").await });
    runs.notified().await;
    let run = browser.runs().await[0]["run"].as_str().unwrap().to_owned();
    let path = format!("/api/runs/{run}/interrupt");
    assert_eq!(browser.post(&path, &json!({})).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(browser.runs().await[0]["state"], "running");
    call.abort();
}

// ST-14
#[tokio::test]
async fn cancelled_and_panicked_runs_show_their_end() {
    let studio = Studio::new();
    let (agent, runs) = stuck(&studio);
    let browser = open(&studio).await;
    let mut stream = browser.events(None).await;
    let call = tokio::spawn(async move { agent.call("Go").await });
    runs.notified().await;
    call.abort();
    let settled = stream.until_settled().await.pop().unwrap();
    assert_eq!(settled.data["data"], json!({ "outcome": "cancelled" }));

    let panics = on(|_: &mut PostReasoning<'_>| -> Flow { panic!("on purpose") });
    let agent = ReActAgent::builder("clerk").model(says("Hello.")).hook(panics.named("panics"));
    let agent = agent.hook(studio.hook()).build().unwrap();
    tokio::spawn(async move { agent.call("Go").await }).await.unwrap_err();
    let settled = stream.until_settled().await.pop().unwrap();
    assert_eq!(settled.data["data"], json!({ "outcome": "panicked" }));
    let runs = browser.runs().await;
    assert_eq!((&runs[0]["state"], &runs[1]["state"]), (&json!("panicked"), &json!("cancelled")));
    assert!(runs.iter().all(|run| run["ended"].is_u64()));
    let hook = browser.newest().await;
    let hook = hook["entries"].as_array().unwrap().iter().find(|it| it["type"] == "hook").cloned();
    assert_eq!(hook.unwrap()["data"]["flow"], "panicked");
}

#[tokio::test]
async fn a_person_writes_to_threads_of_their_own_and_of_nobody() {
    let studio = Studio::new().allow_chat(true).decided_by("ada");
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("clerk").model(model).hook(studio.hook()).build().unwrap();
    let agent = std::sync::Arc::new(agent);
    let browser = open(&studio.clone().agent(agent.clone())).await;
    let mut stream = browser.events(None).await;
    agent.call_with(CallOptions::new().thread("bobs").user("bob"), "hi").await.unwrap();
    agent.call_with(CallOptions::new().thread("nobodys"), "hi").await.unwrap();
    for _ in 0..2 {
        stream.until_settled().await;
    }
    let write = async |thread: &str| {
        let path = format!("/api/threads/clerk/{thread}/messages");
        browser.post(&path, &serde_json::json!({ "text": "hello" })).await.status().as_u16()
    };
    assert_eq!(write("bobs").await, 403);
    for thread in ["nobodys", "new"] {
        assert_eq!(write(thread).await, 202);
        stream.until_settled().await;
    }
    let user = |thread: &str| agent.threads().memory(thread).unwrap().user();
    assert_eq!((user("nobodys"), user("new").as_deref()), (None, Some("ada")));
    assert_eq!(agent.threads().memory("bobs").unwrap().messages().len(), 2);
}
