//! Studios that stop, rings that are full, and workers that stop.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::join::support::{KEY, entries, join, joined, until_ended};
use crate::support::{clerk, open, open_at, says};

/// An agent whose answer has as many words as it is asked for.
fn counter(studio: &Studio) -> Arc<ReActAgent> {
    let model = ScriptedModel::new("counter", |request| {
        let count: usize = request.last_text().parse().unwrap();
        "word ".repeat(count)
    });
    Arc::new(ReActAgent::builder("counter").model(model).hook(studio.hook()).build().unwrap())
}

#[tokio::test]
async fn a_studio_that_starts_anew_gets_the_runs_and_calls_do_not_wait_for_it() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new();
    let agent = counter(&studio);
    let own = open(&studio).await;
    let worker = join(&studio, &browser);
    agent.call("3").await.unwrap();
    until_ended(&browser, &mut stream, 1).await;

    let address = browser.server.address().to_string();
    browser.server.shutdown().await;
    for count in 4..8 {
        agent.call(count.to_string()).await.unwrap();
    }
    let again = open_at(&joined(), &address).await;
    let mut stream = again.events(None).await;

    let runs = until_ended(&again, &mut stream, 5).await;
    let titles: Vec<_> = runs.iter().map(|run| run["title"].clone()).collect();
    assert_eq!(titles, ["7", "6", "5", "4", "3"]);
    for run in &runs {
        assert_eq!(run["dropped"], 0);
        assert_eq!(entries(&again, &run["run"]).await, entries(&own, &run["run"]).await);
    }
    assert_eq!(worker.dropped(), 0);
}

#[tokio::test]
async fn runs_that_the_ring_gave_up_are_counted() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new().capacity(2, 1_000, 1 << 20);
    let agent = counter(&studio);
    let url = format!("http://{}", browser.server.address());
    let worker = studio.join(url, KEY).unwrap();
    for _ in 0..5 {
        agent.call("2").await.unwrap();
    }
    tokio::spawn(worker.serve());

    let runs = until_ended(&browser, &mut stream, 2).await;
    worker.shutdown().await;
    assert_eq!(runs.len(), 2);
    assert_eq!(worker.dropped(), 3 * runs[0]["events"].as_u64().unwrap());
    let shown = browser.json("/api/agents").await["workers"][0].clone();
    assert_eq!((&shown["dropped"], &shown["is_away"]), (&json!(worker.dropped()), &json!(true)));
}

#[tokio::test]
async fn a_run_whose_first_entries_the_ring_gave_up_is_shown_as_a_part() {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new().capacity(10, 20, 1 << 20);
    let agent = counter(&studio);
    let own = open(&studio).await;
    let url = format!("http://{}", browser.server.address());
    let worker = studio.join(url, KEY).unwrap();
    agent.call("50").await.unwrap();
    tokio::spawn(worker.serve());

    let run = until_ended(&browser, &mut stream, 1).await[0].clone();
    let there = own.runs().await[0].clone();
    assert_eq!((&run["events"], &run["dropped"]), (&there["events"], &there["dropped"]));
    let here = entries(&browser, &run["run"]).await;
    assert_eq!(here, entries(&own, &run["run"]).await);
    assert_eq!(here.len(), 20);
    worker.shutdown().await;
    assert_eq!(json!(worker.dropped()), run["dropped"]);
}

#[tokio::test]
async fn a_worker_that_stops_sends_what_is_left() {
    let browser = open(&joined()).await;
    let studio = Studio::new();
    let clerk = clerk(&studio, |builder| builder);
    let worker = join(&studio.clone().agent(clerk.agent.clone()), &browser).named("billing");
    clerk.agent.call("Pay").await.unwrap();
    for _ in 0..3 {
        let agent = counter(&studio);
        agent.call("1").await.unwrap();
    }
    worker.shutdown().await;
    assert_eq!(worker.dropped(), 0);
    let runs = browser.runs().await;
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|run| run.get("ended").is_some()), "{runs:?}");
    // Nobody answers for it any more.
    assert_eq!(browser.json("/api/approvals").await["waiting"], json!([]));
    // One that was never served has nothing to do.
    let unserved = studio.join("http://127.0.0.1:1", KEY).unwrap();
    unserved.shutdown().await;
    assert!(unserved.dropped() > 0);
    unserved.serve().await;
}

#[tokio::test]
async fn a_worker_with_a_wrong_key_sends_nothing_and_slows_nothing() {
    let browser = open(&joined()).await;
    let studio = Studio::new();
    let agent = Arc::new(
        ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook()).build().unwrap(),
    );
    let own = open(&studio).await;
    let url = format!("http://{}", browser.server.address());
    let worker = studio.join(url, "another-key-of-workers").unwrap();
    let serving = tokio::spawn(worker.serve());
    agent.call("Go").await.unwrap();
    worker.shutdown().await;
    serving.await.unwrap();
    let count = own.runs().await[0]["events"].clone();
    assert_eq!(json!(worker.dropped()), count);
    assert_eq!(browser.runs().await, Vec::<Value>::new());
    assert_eq!(browser.json("/api/agents").await["workers"], json!([]));
}
