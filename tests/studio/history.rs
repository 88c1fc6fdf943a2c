//! Runs that are kept in a store, beyond the ring.

use std::sync::Arc;

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::PriceTable;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_sql::store::SqliteStore;
use hooks_agent_studio::{Studio, StudioError};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Browser, MAIL, calls_then, open, reads, says};

/// A file for the history.
struct Kept {
    folder: TempDir,
}

impl Kept {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    async fn store(&self) -> SqliteStore {
        SqliteStore::open(self.folder.path().join("runs.db")).await.unwrap()
    }

    /// A studio that begins anew, with the history of the ones before it.
    async fn studio(&self) -> Studio {
        let prices = PriceTable::new().model("scripted", 3_000_000, 15_000_000);
        Studio::new().prices(prices, "USD").history(self.store().await)
    }

    /// Makes calls of ada's that a studio sees, and shuts it down.
    async fn calls(&self, texts: &[&str]) {
        let studio = self.studio().await;
        let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
            let answer: ScriptedAnswer = format!("I read: {}", request.last_text()).into();
            answer.costing(Usage::new(1_000, 100))
        });
        let agent = ReActAgent::builder("clerk").model(model).hook(studio.hook()).build().unwrap();
        let browser = open(&studio).await;
        for text in texts {
            agent.call_with(CallOptions::new().thread("letters").user("ada"), *text).await.unwrap();
        }
        browser.server.shutdown().await;
    }
}

async fn listed(browser: &Browser, query: &str) -> Value {
    browser.json(&format!("/api/history?{query}")).await
}

fn titles(listed: &Value) -> Vec<&str> {
    let runs = listed["runs"].as_array().unwrap();
    runs.iter().map(|run| run["title"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn runs_of_an_earlier_process_are_listed_searched_and_opened() {
    let kept = Kept::new();
    kept.calls(&["The first letter", "A second one, from Zürich", "The third"]).await;
    let browser = open(&kept.studio().await).await;
    assert_eq!(browser.runs().await.len(), 0, "the ring begins anew");
    assert_eq!(browser.json("/api/agents").await["history"], true);

    let all = listed(&browser, "").await;
    let mut sorted = titles(&all);
    sorted.sort_unstable();
    assert_eq!(sorted, ["A second one, from Zürich", "The first letter", "The third"]);
    assert_eq!((&all["next"], &all["lost"]), (&Value::Null, &json!(0)));
    let runs = all["runs"].as_array().unwrap();
    let run = runs.iter().find(|run| run["title"] == "A second one, from Zürich").unwrap();
    assert_eq!((&run["agent"], &run["user"]), (&json!("clerk"), &json!("ada")));
    assert_eq!((&run["state"], &run["cost"]), (&json!("finished"), &json!(0.0045)));

    for (query, expected) in [
        ("q=lett", vec!["The first letter"]),
        ("q=Z%C3%9CR%20second", vec!["A second one, from Zürich"]),
        ("q=etter", vec![]),
        ("q=nothing", vec![]),
        ("q=%22%20OR%201%3D1%20--", vec![]),
        ("agent=clerk&state=failed", vec![]),
        ("user=bob", vec![]),
        ("thread=letters&q=third", vec!["The third"]),
    ] {
        assert_eq!(titles(&listed(&browser, query).await), expected, "{query}");
    }

    let path = format!("/api/runs/{}", run["run"].as_str().unwrap());
    let opened = browser.json(&path).await;
    assert_eq!((&opened["from"], &opened["runs"][0]), (&json!("history"), run));
    let kinds: Vec<_> =
        opened["entries"].as_array().unwrap().iter().map(|it| it["type"].clone()).collect();
    assert_eq!((&kinds[0], kinds.last().unwrap()), (&json!("started"), &json!("settled")));
    let finished = opened["entries"].as_array().unwrap().iter().find(|it| it["type"] == "finished");
    let text = &finished.unwrap()["data"]["content"][0]["text"];
    assert_eq!(text, "I read: A second one, from Zürich");
}

#[tokio::test]
async fn pages_of_the_history_have_each_run_once() {
    let kept = Kept::new();
    kept.calls(&["1", "2", "3", "4", "5"]).await;
    let browser = open(&kept.studio().await).await;
    let mut seen = Vec::new();
    let mut query = "limit=2".to_owned();
    loop {
        let page = listed(&browser, &query).await;
        seen.extend(titles(&page).into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_str() else { break };
        query = format!("limit=2&before={next}");
    }
    // Runs of one millisecond are in any order.
    seen.sort_unstable();
    assert_eq!(seen, ["1", "2", "3", "4", "5"]);
    let words: Vec<_> = (0..99).map(|number| format!("w{number}")).collect();
    for query in ["before=x", "before=1.2", &format!("q={}", words.join("%20"))] {
        let answer = browser.get(&format!("/api/history?{query}")).await;
        assert_eq!(answer.status(), 422, "{query}");
    }
}

#[tokio::test]
async fn the_first_view_counts_what_the_ring_does_not_have() {
    let kept = Kept::new();
    kept.calls(&["one", "two"]).await;
    let studio = kept.studio().await;
    let browser = open(&studio).await;

    let seen = browser.json("/api/overview?since=1").await;

    assert_eq!((&seen["source"], &seen["runs"]["total"]), (&json!("store"), &json!(2)));
    assert_eq!((&seen["tokens"]["input"], &seen["tokens"]["output"]), (&json!(2_000), &json!(200)));
    assert_eq!(seen["cost"], json!({ "total": 0.009, "currency": "USD", "unpriced": 0 }));
    assert_eq!(
        (&seen["agents"][0]["name"], &seen["agents"][0]["runs"]),
        (&json!("clerk"), &json!(2))
    );
    assert_eq!(
        (&seen["models"][0]["name"], &seen["models"][0]["calls"]),
        (&json!("scripted"), &json!(2))
    );
    assert_eq!(
        (&seen["users"][0]["name"], &seen["users"][0]["cost"]),
        (&json!("ada"), &json!(0.009))
    );
    let of = |steps: &Value, name: &str| -> u64 {
        steps.as_array().unwrap().iter().map(|step| step[name].as_u64().unwrap()).sum()
    };
    assert_eq!((of(&seen["by_time"], "runs"), of(&seen["by_time"], "tokens")), (2, 2_200));
    assert!(seen["by_time"].as_array().unwrap().len() <= 48);

    let hour = browser.json("/api/overview?since=99999999999999").await;
    assert_eq!((&hour["source"], &hour["runs"]["total"]), (&json!("ring"), &json!(0)));
}

#[tokio::test]
async fn without_a_time_the_days_are_the_last_ones() {
    let kept = Kept::new();
    kept.calls(&["one"]).await;
    let browser = open(&kept.studio().await).await;
    let now = listed(&browser, "").await["runs"][0]["started"].as_u64().unwrap();
    let days = browser.json("/api/overview").await["days"].clone();
    let days = days.as_array().unwrap();
    assert!(days.len() <= 120);
    let last = days.last().unwrap();
    assert!(now - last["at"].as_u64().unwrap() < 24 * 3_600_000);
    assert_eq!(last["runs"], 1);
}

#[tokio::test]
async fn a_month_has_its_days() {
    let kept = Kept::new();
    kept.calls(&["one", "two"]).await;
    let browser = open(&kept.studio().await).await;
    let now = listed(&browser, "").await["runs"][0]["started"].as_u64().unwrap();
    let month = 30 * 24 * 3_600_000;
    let seen = browser.json(&format!("/api/overview?since={}", now - month)).await;
    let days = seen["days"].as_array().unwrap();
    assert!((30..=32).contains(&days.len()), "{}", days.len());
    for day in days {
        assert_eq!(day["at"].as_u64().unwrap() % (24 * 3_600_000), 0);
    }
    let runs: u64 = days.iter().map(|day| day["runs"].as_u64().unwrap()).sum();
    let cost: f64 = days.iter().map(|day| day["cost"].as_f64().unwrap()).sum();
    assert_eq!((runs, format!("{cost:.4}")), (2, "0.0090".to_owned()));
}

#[tokio::test]
async fn what_the_studio_does_not_show_is_in_no_history() {
    let kept = Kept::new();
    let studio = kept.studio().await.show_content(false);
    let model = calls_then("read", json!({ "path": "secret-plan" }), "secret-answer");
    let agent = ReActAgent::builder("clerk").model(model).tool(reads("secret-text"));
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("secret-question").await.unwrap();
    browser.server.shutdown().await;
    let studio = kept.studio().await;
    let model = calls_then("read", json!({ "path": "a" }), "Write to them.");
    let redact = PiiDetection::email().strategy(PiiStrategy::Mask);
    let agent = ReActAgent::builder("masked").model(model).tool(reads("a plan of it")).hook(redact);
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call(format!("Mail {MAIL}")).await.unwrap();
    browser.server.shutdown().await;

    let browser = open(&kept.studio().await).await;
    let all = listed(&browser, "").await;
    assert_eq!(all["runs"].as_array().unwrap().len(), 2);
    for word in ["secret", "question", MAIL] {
        assert_eq!(listed(&browser, &format!("q={word}")).await["runs"], json!([]), "{word}");
    }
    for file in std::fs::read_dir(kept.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for text in ["secret-", MAIL] {
            let is_there = bytes.windows(text.len()).any(|part| part == text.as_bytes());
            assert!(!is_there, "{text}");
        }
    }
}

#[tokio::test]
async fn a_run_that_waited_is_kept_as_it_is_in_the_end() {
    let kept = Kept::new();
    let studio = kept.studio().await;
    let clerk = crate::support::clerk(&studio, |builder| builder);
    let browser = open(&studio.agent(clerk.agent.clone())).await;
    clerk.agent.call("Pay").await.unwrap();
    let question = browser.question().await;
    let mut stream = browser.events(None).await;
    browser.decide(&question, json!({ "decision": "approve" })).await;
    stream.until_settled().await;
    browser.server.shutdown().await;

    let browser = open(&kept.studio().await).await;
    let all = listed(&browser, "").await;
    let of = |state: &str| {
        let runs = all["runs"].as_array().unwrap();
        runs.iter().find(|run| run["state"] == state).unwrap().clone()
    };
    assert_eq!(all["runs"].as_array().unwrap().len(), 2);
    assert_eq!(of("resumed")["resumed_by"], of("finished")["run"]);
    let seen = browser.json("/api/overview?since=1").await;
    let runs = &seen["runs"];
    assert_eq!((&runs["total"], &runs["waiting"]), (&json!(2), &json!(0)));
    assert_eq!((&runs["finished"], &runs["resumed"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_run_that_waited_in_an_earlier_process_is_resumed_too() {
    let kept = Kept::new();
    let threads = MemoryStore::new();
    let clerk = async |studio: &Studio| {
        let store = threads.clone();
        crate::support::clerk(studio, |builder| builder.store(store))
    };
    let studio = kept.studio().await;
    let first = clerk(&studio).await;
    let browser = open(&studio.agent(first.agent.clone())).await;
    first.agent.call("Pay").await.unwrap();
    browser.server.shutdown().await;

    let studio = kept.studio().await;
    let second = clerk(&studio).await;
    let browser = open(&studio.agent(second.agent.clone())).await;
    assert_eq!(listed(&browser, "state=waiting").await["runs"].as_array().unwrap().len(), 1);
    let question = browser.question().await;
    let mut stream = browser.events(None).await;
    browser.decide(&question, json!({ "decision": "approve" })).await;
    stream.until_settled().await;
    browser.server.shutdown().await;

    let browser = open(&kept.studio().await).await;
    let all = listed(&browser, "").await;
    let of = |state: &str| {
        let runs = all["runs"].as_array().unwrap();
        runs.iter().find(|run| run["state"] == state).unwrap().clone()
    };
    assert_eq!(of("resumed")["resumed_by"], of("finished")["run"]);
    let runs = browser.json("/api/overview?since=1").await["runs"].clone();
    assert_eq!((&runs["waiting"], &runs["resumed"]), (&json!(0), &json!(1)));
}

#[tokio::test]
async fn a_run_that_the_store_refuses_is_counted_and_holds_up_no_other() {
    let kept = Kept::new();
    let studio = kept.studio().await;
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    let nobody = CallOptions::new().user("");
    agent.call_with(nobody, "refused").await.unwrap();
    agent.call("kept").await.unwrap();
    browser.server.shutdown().await;
    let browser = open(&studio).await;
    let all = listed(&browser, "").await;
    assert_eq!((titles(&all), &all["lost"]), (vec!["kept"], &json!(1)));
}

#[tokio::test]
async fn each_of_two_servers_shuts_down() {
    let kept = Kept::new();
    let studio = kept.studio().await;
    let (one, other) = (open(&studio).await, open(&studio).await);
    other.server.shutdown().await;
    one.server.shutdown().await;
}

#[tokio::test]
async fn numbers_are_those_of_runs_whose_entries_are_gone() {
    let kept = Kept::new();
    let studio = kept.studio().await.capacity(10, 20, 64 << 20);
    let model = ScriptedModel::new("scripted", |_| -> ScriptedAnswer {
        let answer: ScriptedAnswer = "word ".repeat(60).into();
        answer.costing(Usage::new(1_000, 100))
    });
    let agent = ReActAgent::builder("clerk").model(model).hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Say words").await.unwrap();
    let began = browser.runs().await[0]["started"].as_u64().unwrap();
    let of_ring = browser.json(&format!("/api/overview?since={began}")).await;
    assert_eq!(of_ring["source"], "ring");
    browser.server.shutdown().await;
    let browser = open(&kept.studio().await).await;
    let of_store = browser.json("/api/overview?since=1").await;
    for seen in [of_ring, of_store] {
        assert_eq!(
            (&seen["tokens"]["input"], &seen["cost"]["total"]),
            (&json!(1_000), &json!(0.0045))
        );
        assert_eq!(
            (&seen["models"][0]["calls"], &seen["agents"][0]["tokens"]),
            (&json!(1), &json!(1_100))
        );
    }
}

#[tokio::test]
async fn the_entries_of_sub_agents_are_in_order() {
    let kept = Kept::new();
    let studio = kept.studio().await;
    let below = ReActAgent::builder("below").model(says("Deep.")).build().unwrap();
    let model = calls_then("below", json!({ "task": "Look" }), "Done.");
    let agent = ReActAgent::builder("above").model(model).tool(below.to_tool("Asks."));
    let agent = agent.hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let live = browser.newest().await;
    let path = format!("/api/runs/{}", live["runs"][0]["run"].as_str().unwrap());
    browser.server.shutdown().await;
    let browser = open(&kept.studio().await).await;
    let opened = browser.json(&path).await;
    assert_eq!((&opened["from"], opened["runs"].as_array().unwrap().len()), (&json!("history"), 2));
    assert_eq!(opened["entries"], live["entries"]);
}

#[tokio::test]
async fn what_the_store_forgets_is_not_in_the_history() {
    let kept = Kept::new();
    kept.calls(&["a letter"]).await;
    let store = kept.store().await;
    store.forget(Filter::all().user("ada")).await.unwrap();
    let browser = open(&kept.studio().await).await;
    assert_eq!(listed(&browser, "").await["runs"], json!([]));
    assert_eq!(listed(&browser, "q=letter").await["runs"], json!([]));
    assert_eq!(browser.json("/api/overview?since=1").await["users"], json!([]));
}

#[tokio::test]
async fn without_a_history_there_is_none() {
    let browser = open(&Studio::new()).await;
    let answer = browser.get("/api/history").await;
    assert_eq!(answer.status(), 404);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"], "no_history");
    assert_eq!(browser.json("/api/agents").await["history"], false);
    let studio = Studio::new().history(Arc::new(MemoryStore::new()));
    let error = studio.bind("127.0.0.1:0").await.unwrap_err();
    assert!(matches!(error, StudioError::NoHistory), "{error}");
}
