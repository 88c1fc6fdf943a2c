//! Messages of workers, as they are written by hand.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::join::support::{ByHand, KEY, entry, joined, run};
use crate::support::{open, says};

const RUN: &str = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5";

/// A message with the first entries of a run.
fn begun(entries: &Value) -> Value {
    json!({ "runs": [{ "run": run(RUN), "before": 0 }], "entries": entries })
}

fn types(tree: &Value) -> Vec<&str> {
    tree["entries"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect()
}

async fn tree(worker: &ByHand) -> Value {
    worker.browser.json(&format!("/api/runs/{RUN}")).await
}

#[tokio::test]
async fn without_the_key_nobody_joins() {
    let browser = open(&joined()).await;
    let send = |request: reqwest::RequestBuilder| async move {
        let answer = request.json(&json!({ "worker": "w", "name": "n" })).send().await.unwrap();
        answer.status().as_u16()
    };
    let url = browser.address("/api/join");
    let post = || browser.client.post(&url);
    assert_eq!(send(post()).await, 401);
    assert_eq!(send(post().bearer_auth("key-of-the-worker")).await, 401);
    assert_eq!(send(post().bearer_auth(format!("{KEY}0"))).await, 401);
    assert_eq!(send(post().header("cookie", &browser.cookie)).await, 401);
    assert_eq!(send(post().header("authorization", KEY)).await, 401);
    assert_eq!(send(post().bearer_auth(KEY).bearer_auth("other")).await, 401);
    assert_eq!(send(post().bearer_auth(KEY)).await, 200);
    // It is no page, and the key opens nothing else.
    assert_eq!(send(post().bearer_auth(KEY).header("origin", "http://evil.test")).await, 200);
    assert_eq!(send(post().bearer_auth(KEY).header("host", "evil.test")).await, 421);
    let read = browser.client.get(browser.address("/api/runs")).bearer_auth(KEY);
    assert_eq!(read.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let text = post().bearer_auth(KEY).header("content-type", "text/plain").body("{}");
    assert_eq!(text.send().await.unwrap().status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let get = browser.client.get(&url).bearer_auth(KEY).header("content-type", "application/json");
    assert_eq!(get.send().await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED);
    let closed = open(&Studio::new()).await;
    let url = closed.address("/api/join");
    for key in [KEY, ""] {
        assert_eq!(send(closed.client.post(&url).bearer_auth(key)).await, 401);
    }
}

#[tokio::test]
async fn what_is_sent_twice_is_there_once() {
    let worker = ByHand::new(&open(&joined()).await, "one").await;
    let first = [
        entry(RUN, 11, "started", Value::Null),
        entry(RUN, 14, "reasoning_chunk", json!({ "type": "text", "text": "One" })),
    ];
    for _ in 0..2 {
        let answer = worker.send(begun(&json!(first))).await;
        assert_eq!((&answer["is_taken"], &answer["refused"]), (&json!(true), &json!(0)));
    }
    let more =
        [&first[1..], &[entry(RUN, 15, "settled", json!({ "outcome": "finished" }))]].concat();
    let mut ended = run(RUN);
    (ended["state"], ended["ended"]) = ("finished".into(), 2_000.into());
    worker.send(json!({ "runs": [{ "run": ended, "before": 1 }], "entries": more })).await;
    let tree = tree(&worker).await;
    assert_eq!(types(&tree), ["started", "reasoning_chunk", "settled"]);
    let summary = &tree["runs"][0];
    assert_eq!((&summary["state"], &summary["ended"]), (&json!("finished"), &json!(2_000)));
    assert_eq!((&summary["events"], &summary["dropped"]), (&json!(3), &json!(0)));
    assert_eq!(tree["entries"][1]["ts"], 1_014, "time is that of the worker");
}

#[tokio::test]
async fn a_kind_that_is_not_known_is_counted_as_dropped() {
    let worker = ByHand::new(&open(&joined()).await, "one").await;
    let entries = json!([
        entry(RUN, 1, "started", Value::Null),
        entry(RUN, 2, "of_a_later_time", json!({ "a": 1 })),
        entry(RUN, 3, "finished", Value::Null),
    ]);
    assert_eq!(worker.send(begun(&entries)).await["refused"], 1);
    let tree = tree(&worker).await;
    assert_eq!(types(&tree), ["started", "finished"]);
    let summary = &tree["runs"][0];
    assert_eq!((&summary["events"], &summary["dropped"]), (&json!(3), &json!(1)));
}

#[tokio::test]
async fn a_run_of_somebody_else_is_not_changed() {
    let browser = open(&joined()).await;
    let (one, two) = (ByHand::new(&browser, "one").await, ByHand::new(&browser, "two").await);
    one.send(begun(&json!([entry(RUN, 1, "started", Value::Null)]))).await;
    let before = tree(&one).await;
    let mut other = begun(&json!([entry(RUN, 5, "failed", Value::Null)]));
    other["runs"][0]["run"]["state"] = "failed".into();
    other["hidden"] = json!([{ "run": RUN, "entries": [1] }]);
    assert_eq!(two.send(other.clone()).await["refused"], 1);
    assert_eq!(tree(&one).await["entries"], before["entries"]);
    assert_eq!(tree(&one).await["runs"], before["runs"]);
    // A worker that left has not ended it, and another process goes on with it.
    one.send(json!({ "leaves": true })).await;
    assert_eq!(two.send(other).await["refused"], 0);
    assert_eq!(types(&tree(&two).await), ["failed"]);
    let mut again = begun(&json!([entry(RUN, 9, "started", Value::Null)]));
    again["runs"][0]["before"] = 1.into();
    assert_eq!(one.send(again).await["refused"], 1);
}

#[tokio::test]
async fn a_run_of_the_studio_itself_is_not_changed() {
    let studio = joined();
    let agent = ReActAgent::builder("own").model(says("Done.")).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let own = browser.newest().await;
    let id = own["runs"][0]["run"].as_str().unwrap();
    let worker = ByHand::new(&browser, "one").await;
    let message = json!({
        "runs": [{ "run": run(id), "before": 0 }],
        "entries": [entry(id, 1 << 52, "failed", Value::Null)],
    });
    assert_eq!(worker.send(message).await["refused"], 1);
    assert_eq!(browser.newest().await["entries"], own["entries"]);
    assert_eq!(browser.newest().await["runs"], own["runs"]);
}

#[tokio::test]
async fn a_message_for_another_studio_is_not_taken() {
    let browser = open(&joined()).await;
    let worker = ByHand::new(&browser, "one").await;
    let mut message = begun(&json!([entry(RUN, 1, "started", Value::Null)]));
    message["worker"] = "one".into();
    message["name"] = "".into();
    message["studio"] = "00000000-0000-4000-8000-000000000000".into();
    let request = browser.client.post(browser.address("/api/join")).bearer_auth(KEY);
    let answer = request.json(&message).send().await.unwrap().json::<Value>().await.unwrap();
    assert_eq!(answer["is_taken"], false);
    assert!(browser.runs().await.is_empty());
    worker.send(message).await;
    assert_eq!(browser.runs().await.len(), 1);
}

#[tokio::test]
async fn messages_that_are_none_or_too_large_are_refused() {
    let browser = open(&joined()).await;
    let worker = ByHand::new(&browser, "one").await;
    let status = async |message: Value| worker.post(message).await.status().as_u16();
    assert_eq!(status(json!({ "entries": [{ "seq": 1 }] })).await, 400);
    assert_eq!(status(json!({ "entries": "x".repeat(5 << 20) })).await, 413);
    let long = ByHand::new(&browser, "two").await;
    let url = browser.address("/api/join");
    let message = json!({ "worker": "x".repeat(300), "name": "n" });
    let answer = browser.client.post(url).bearer_auth(KEY).json(&message).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    // A run that is none is left out, with its entries, and the others are taken.
    let other = "7f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5";
    let mut huge = run(other);
    huge["title"] = "x".repeat(20 << 10).into();
    let message = json!({
        "runs": [{ "run": { "run": 7 }, "before": 0 }, { "run": huge, "before": 0 }, { "run": run(RUN), "before": 0 }],
        "entries": [entry(other, 1, "started", Value::Null), entry(RUN, 2, "started", Value::Null)],
    });
    assert_eq!(long.send(message).await["refused"], 1);
    assert_eq!(browser.runs().await.len(), 1);
}

#[tokio::test]
async fn an_entry_that_is_too_large_is_kept_without_its_content_and_the_ring_is_bounded() {
    let worker = ByHand::new(&open(&joined().capacity(2, 3, 256 << 10)).await, "one").await;
    let text = "x".repeat(64 << 10);
    let long = json!({ "type": "text", "text": text });
    worker.send(begun(&json!([entry(RUN, 1, "reasoning_chunk", long)]))).await;
    assert_eq!(tree(&worker).await["entries"][0]["data"], json!({ "hidden": true }));
    let many: Vec<_> =
        (2..50).map(|seq| entry(RUN, seq, "tool_chunk", json!({ "b": 1, "a": seq }))).collect();
    worker.send(json!({ "runs": [{ "run": run(RUN), "before": 1 }], "entries": many })).await;
    let kept = tree(&worker).await;
    assert_eq!(kept["entries"].as_array().unwrap().len(), 3);
    assert_eq!((&kept["runs"][0]["events"], &kept["runs"][0]["dropped"]), (&json!(49), &json!(46)));
    for index in 0..5 {
        let id = format!("{index}f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c6");
        let entries = [entry(&id, 100 + index, "started", Value::Null)];
        worker
            .send(json!({ "runs": [{ "run": run(&id), "before": 0 }], "entries": entries }))
            .await;
    }
    assert_eq!(worker.browser.runs().await.len(), 2);
}
