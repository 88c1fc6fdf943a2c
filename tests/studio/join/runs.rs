//! Runs of workers, as the studio shows them.

use std::sync::Arc;

use hooks_agent_core::call::CallOptions;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::{Studio, StudioError};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::join::support::{KEY, entries, join, joined, summary, until_ended};
use crate::support::{SECRET, calls_then, open, reads, says};

/// An agent with a tool and a sub-agent.
fn clerk(studio: &Studio, name: &'static str) -> Arc<ReActAgent> {
    let part =
        ReActAgent::builder("part").model(calls_then("read", json!({ "b": 1, "a": 2 }), "Read."));
    let part = part.tool(reads("a text")).build().unwrap();
    let builder = ReActAgent::builder(name).model(calls_then(
        "part",
        json!({ "task": "read" }),
        "Done, all of it.",
    ));
    Arc::new(builder.tool(part.to_tool("Reads.")).hook(studio.hook()).build().unwrap())
}

#[tokio::test]
async fn the_runs_of_two_workers_are_those_of_their_own_pages() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studios = [Studio::new(), Studio::new()];
    let own = [open(&studios[0]).await, open(&studios[1]).await];
    let agents = [clerk(&studios[0], "one"), clerk(&studios[1], "two")];
    let _workers = studios.each_ref().map(|studio| join(studio, &browser));

    for index in 0..6 {
        let options = CallOptions::new().thread(format!("{index}")).user("ada");
        agents[index % 2].call_with(options, "Go").await.unwrap();
    }

    let runs = until_ended(&browser, &mut stream, 12).await;
    assert_eq!(runs.len(), 12);
    for own in own {
        let own_runs = own.runs().await;
        let of_worker = |run: &&Value| own_runs.iter().any(|own| own["run"] == run["run"]);
        let here: Vec<_> = runs.iter().filter(of_worker).map(summary).collect();
        assert_eq!(here, own_runs.iter().map(summary).collect::<Vec<_>>(), "in their order");
        for run in own_runs {
            let there = entries(&own, &run["run"]).await;
            assert_eq!(entries(&browser, &run["run"]).await, there);
        }
    }
    let workers = browser.json("/api/agents").await["workers"].as_array().unwrap().clone();
    assert_eq!(workers.len(), 2);
    assert!(workers.iter().all(|it| it["is_away"] == false && it["dropped"] == 0), "{workers:?}");
}

#[tokio::test]
async fn what_happened_before_the_worker_is_served_is_sent_too() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new();
    let agent = clerk(&studio, "clerk");
    agent.call("Go").await.unwrap();
    let worker = join(&studio, &browser);
    until_ended(&browser, &mut stream, 2).await;
    assert_eq!(worker.dropped(), 0);
    let found = browser.json("/api/search?q=all%20of%20it").await;
    assert_eq!(found["hits"][0]["agent"], "clerk", "{found}");
    let overview = browser.json("/api/overview").await;
    assert!(overview.to_string().contains("\"clerk\""), "{overview}");
}

#[tokio::test]
async fn what_a_worker_hides_is_hidden() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new().show_content(false);
    let agent = clerk(&studio, "clerk");
    let _worker = join(&studio, &browser);
    agent.call("sk-9f2c77ab").await.unwrap();
    let runs = until_ended(&browser, &mut stream, 2).await;
    for run in &runs {
        for entry in entries(&browser, &run["run"]).await {
            let data = entry["data"].to_string();
            assert!(!data.contains("a text") && !data.contains("all of it"), "{data}");
            if entry["type"] == "input" {
                assert_eq!(entry["data"]["hidden"], true);
            }
        }
    }
    assert!(!stream.text.contains(SECRET) && stream.text.contains("\"hidden\":true"));
    for text in ["sk-9f2c77ab", "read", "true"] {
        let found = browser.json(&format!("/api/search?q={text}")).await;
        assert_eq!(found["hits"], json!([]), "{text}");
    }
}

/// Changes an answer once it was seen.
struct Late {
    seen: Arc<Notify>,
}

#[agent_hook]
impl Late {
    async fn answer(&self, event: &mut PostReasoning<'_>) {
        self.seen.notified().await;
        event.message_mut().push_text(" Changed.");
    }
}

#[tokio::test]
async fn chunks_that_a_worker_hides_after_they_were_sent_are_hidden() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new().show_drafts(true);
    let seen = Arc::new(Notify::new());
    let agent = ReActAgent::builder("clerk").model(says("The key sk-9f2c77ab."));
    let agent = agent.hook(Late { seen: seen.clone() }.with_priority(100)).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let own = open(&studio).await;
    let _worker = join(&studio, &browser);

    let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), "Go"));
    stream.until(|it| it.data.to_string().contains(SECRET)).await;
    seen.notify_one();
    call.await.unwrap().unwrap();

    let run = until_ended(&browser, &mut stream, 1).await[0]["run"].clone();
    let here = entries(&browser, &run).await;
    assert_eq!(here, entries(&own, &run).await);
    let chunks: Vec<_> = here.iter().filter(|it| it["type"] == "reasoning_chunk").collect();
    assert!(!chunks.is_empty());
    assert!(chunks.iter().all(|it| it["data"]["hidden"] == true), "{chunks:?}");
}

#[tokio::test]
async fn runs_that_go_on_are_streamed() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new();
    let _worker = join(&studio, &browser);
    let agent = clerk(&studio, "clerk");
    agent.call("Go").await.unwrap();
    let seen = stream.until_settled().await;
    let numbers: Vec<_> = seen.iter().filter_map(|it| it.id).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert_eq!(seen[0].event, "run");
    assert!(seen.iter().all(|it| it.event != "resync"));
}

#[tokio::test]
async fn a_studio_is_joined_by_a_strong_key_and_over_no_network_without_encryption() {
    let studio = Studio::new();
    for url in [
        "http://studio.internal:7000",
        "http://10.0.0.1",
        "ftp://127.0.0.1",
        "no",
        "http://a:b@127.0.0.1",
    ] {
        let error = studio.join(url, KEY).unwrap_err();
        assert!(matches!(error, StudioError::Join { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("a:b"), "{error}");
    }
    for key in ["short", "sixteen letters!"] {
        let error = studio.join("http://127.0.0.1:1", key).unwrap_err();
        assert!(matches!(error, StudioError::WeakKey { least: 16 }), "{error}");
        let error = Studio::new().joined_by(key).bind("127.0.0.1:0").await.unwrap_err();
        assert!(matches!(error, StudioError::WeakKey { least: 16 }), "{error}");
    }
    let worker = studio.join("http://[::1]:7000/prefix/", KEY).unwrap();
    assert!(!format!("{worker:?}").contains(KEY));
}
