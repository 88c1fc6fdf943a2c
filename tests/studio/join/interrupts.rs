//! Calls of workers that are interrupted at the studio.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::join::support::{ByHand, entry, join, joined, run, until_ended};
use crate::support::{Browser, calls_then, open};

/// Interrupts a run as ada.
async fn interrupt(browser: &Browser, path: &str) -> Response {
    let request = browser.request(Method::POST, path).header("x-user", "ada");
    request.json(&json!({})).send().await.unwrap()
}

#[tokio::test]
async fn a_call_of_a_worker_is_interrupted() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new();
    let wait = FunctionTool::new("wait", "Waits.", async |_: Value| -> String {
        std::future::pending().await
    });
    let agent = ReActAgent::builder("clerk").model(calls_then("wait", json!({}), "Done."));
    let agent = Arc::new(agent.tool(wait).hook(studio.hook()).build().unwrap());
    let _worker = join(&studio.agent(agent.clone()), &browser);
    let call = tokio::spawn(agent.call_owned(CallOptions::new(), "Go"));
    let started = stream.until(|it| it.data["type"] == "tool_started").await.pop().unwrap();
    let path = format!("/api/runs/{}/interrupt", started.data["run"].as_str().unwrap());

    // Who is not signed in interrupts nothing.
    assert_eq!(browser.post(&path, &json!({})).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(interrupt(&browser, &path).await.status(), StatusCode::ACCEPTED);

    let runs = until_ended(&browser, &mut stream, 1).await;
    assert_eq!(runs[0]["state"], "interrupted");
    let _ = call.await.unwrap();
    assert_eq!(interrupt(&browser, &path).await.status(), StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_run_of_a_worker_that_left_is_not_interrupted() {
    const RUN: &str = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5";
    let browser = open(&joined()).await;
    let worker = ByHand::new(&browser, "one").await;
    let entries = [entry(RUN, 1, "started", Value::Null)];
    let runs = [json!({ "run": run(RUN), "before": 0 })];
    worker.send(json!({ "runs": runs, "entries": entries, "leaves": true })).await;
    let answer = interrupt(&browser, &format!("/api/runs/{RUN}/interrupt")).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"], "worker");
    // Nobody knows its end.
    assert_eq!(browser.runs().await[0]["state"], "running");
}
