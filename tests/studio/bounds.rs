//! Bounds of the ring: the oldest runs and entries go first.

use std::collections::BTreeSet;

use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Browser, open};

/// An agent whose reply has as many words as the user asks for.
fn counter(studio: &Studio) -> ReActAgent {
    let model = ScriptedModel::new("counter", |request| {
        let count: usize = request.last_text().parse().unwrap();
        "word ".repeat(count)
    });
    ReActAgent::builder("clerk").model(model).hook(studio.hook()).build().unwrap()
}

/// Returns all entries that are kept, of all runs, by number.
async fn kept(browser: &Browser) -> Vec<Value> {
    let mut entries = Vec::new();
    for run in browser.runs().await {
        let run = browser.json(&format!("/api/runs/{}", run["run"].as_str().unwrap())).await;
        entries.extend(run["entries"].as_array().unwrap().clone());
    }
    entries.sort_by_key(|entry| entry["seq"].as_u64());
    entries
}

// ST-10
#[tokio::test]
async fn the_oldest_run_goes_first() {
    let studio = Studio::new().capacity(3, 1_000, 1 << 20);
    let (agent, browser) = (counter(&studio), open(&studio).await);
    for count in 1..=5 {
        agent.call(count.to_string()).await.unwrap();
    }
    let titles: Vec<_> = browser.runs().await.iter().map(|run| run["title"].clone()).collect();
    assert_eq!(titles, ["5", "4", "3"]);
}

// ST-10
#[tokio::test]
async fn the_bytes_of_all_runs_are_bounded() {
    const MOST: usize = 256 << 10;
    let studio = Studio::new().capacity(1_000, 5_000, MOST);
    let text = "x".repeat(8 << 10);
    let model = ScriptedModel::new("long", move |_| text.clone());
    let agent = ReActAgent::builder("clerk").model(model).hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    for index in 0..100 {
        let options = CallOptions::new().thread(format!("thread-{index}"));
        agent.call_with(options, index.to_string()).await.unwrap();
        let size: usize = kept(&browser).await.iter().map(|entry| entry.to_string().len()).sum();
        assert!(size <= MOST, "{size} at {index}");
    }
    let runs = browser.runs().await;
    assert!(runs.len() > 3 && runs.len() < 50, "{}", runs.len());
    assert_eq!(runs[0]["title"], "99");
}

#[tokio::test]
async fn one_run_alone_gives_up_its_oldest_entries() {
    let studio = Studio::new().capacity(10, 20, 1 << 20);
    let (agent, browser) = (counter(&studio), open(&studio).await);
    agent.call("50").await.unwrap();
    let run = browser.newest().await;
    assert_eq!(run["entries"].as_array().unwrap().len(), 20);
    let summary = &run["runs"][0];
    assert_eq!(summary["events"].as_u64().unwrap(), 20 + summary["dropped"].as_u64().unwrap(),);
    assert_eq!(run["entries"][19]["type"], "settled");

    let studio = Studio::new().capacity(10, 5_000, 32 << 10);
    let (agent, browser) = (counter(&studio), open(&studio).await);
    agent.call("1000").await.unwrap();
    let size: usize = kept(&browser).await.iter().map(|entry| entry.to_string().len()).sum();
    assert!(size <= 32 << 10, "{size}");
}

#[tokio::test]
async fn an_entry_that_is_too_large_is_kept_without_its_content() {
    let studio = Studio::new();
    let text = "x".repeat(2 << 20);
    let agent = ReActAgent::builder("clerk").model(crate::support::says("Done."));
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call(text).await.unwrap();
    let run = browser.newest().await;
    let input = run["entries"].as_array().unwrap().iter().find(|it| it["type"] == "input").unwrap();
    assert_eq!(input["data"]["hidden"], true);
    assert_eq!(input["data"]["messages"][0]["chars"], 2 << 20);
    assert_eq!(run["runs"][0]["title"].as_str().unwrap().len(), 120);
}

/// Calls that ran, what is kept of them, and where a reader begins.
#[derive(Clone, Debug)]
struct Case {
    calls: Vec<usize>,
    runs: usize,
    events: usize,
    bytes: usize,
    /// Where readers begin, in parts of a thousand of all numbers.
    places: Vec<u64>,
}

fn case() -> impl Strategy<Value = Case> {
    let calls = prop::collection::vec(1..40_usize, 1..8);
    let places = prop::collection::vec(0..=1_000_u64, 1..4);
    (calls, 1..6_usize, 3..60_usize, 2_000..60_000_usize, places).prop_map(
        |(calls, runs, events, bytes, places)| Case { calls, runs, events, bytes, places },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_reader_sees_each_kept_entry_once_and_in_order(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(case));
    }
}

async fn check(case: Case) {
    let studio = Studio::new().capacity(case.runs, case.events, case.bytes);
    let (agent, browser) = (counter(&studio), open(&studio).await);
    let first = browser.json("/api/runs").await["seq"].as_u64().unwrap();
    let mut live = browser.events(None).await;
    for count in &case.calls {
        agent.call(count.to_string()).await.unwrap();
    }
    let last = browser.json("/api/runs").await["seq"].as_u64().unwrap();
    let kept = kept(&browser).await;
    let all: BTreeSet<_> = kept.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    let dropped = (first + 1..=last).rev().find(|seq| !all.contains(seq));

    // One that read meanwhile, at its own pace.
    let mut seen = Vec::new();
    let mut reloads = false;
    while seen.last() != Some(&last) {
        let message = live.next().await.unwrap();
        reloads |= message.event == "resync";
        seen.extend(message.id);
    }
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
    assert!(reloads || seen == (first + 1..=last).collect::<Vec<_>>());

    for place in &case.places {
        let after = first + (last - first) * place / 1_000;
        let mut again = browser.events(Some(after)).await;
        let is_behind = dropped.is_some_and(|dropped| after < dropped);
        if is_behind {
            let message = again.next().await.unwrap();
            assert_eq!((&*message.event, message.data), ("resync", json!({ "seq": last })));
            continue;
        }
        let expected: Vec<_> =
            kept.iter().filter(|entry| entry["seq"].as_u64().unwrap() > after).cloned().collect();
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            let message = again.next().await.unwrap();
            if message.event != "run" {
                assert_eq!(message.id, message.data["seq"].as_u64());
                seen.push(message.data);
            }
        }
        assert_eq!(seen, expected);
    }
    browser.server.shutdown().await;
}

#[tokio::test]
async fn a_run_that_is_played_again_takes_no_more_room() {
    let studio = Studio::new().capacity(100, 1_000, 60_000);
    let (agent, browser) = (counter(&studio), open(&studio).await);
    let (journal, run) = (MemoryJournal::new(), RunId::random());
    let options = || CallOptions::new().run_id(run).journal(journal.again());
    agent.call("1").await.unwrap();
    for _ in 0..100 {
        agent.call_with(options(), "2").await.unwrap();
    }
    let runs = browser.runs().await;
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["dropped"], 0, "{run}");
    }
}
