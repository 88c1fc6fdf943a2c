//! The first view: what the runs come to; and the search in what they say.

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ModelError, PriceTable};
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Browser, MAIL, calls_then, open, reads, says};

async fn overview(browser: &Browser, since: u64) -> Value {
    browser.json(&format!("/api/overview?since={since}")).await
}

async fn hits(browser: &Browser, text: &str) -> Vec<Value> {
    let found = browser.json(&format!("/api/search?q={text}")).await;
    found["hits"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_tool_that_is_an_agent_costs_what_its_runs_cost() {
    let prices = PriceTable::new().model("scripted", 3_000_000, 15_000_000);
    let studio = Studio::new().prices(prices, "USD");
    let poet = ScriptedModel::new("scripted", |_| {
        ScriptedAnswer::from("A poem.").costing(Usage::new(1_000, 100))
    });
    let poet = ReActAgent::builder("poet").model(poet).build().unwrap();
    let editor = calls_then("poet", json!({ "task": "Write" }), "Here it is.");
    let editor = ReActAgent::builder("editor").model(editor).tool(poet.to_tool("Writes."));
    let editor = editor.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    editor.call("A poem").await.unwrap();
    editor.call("Another one").await.unwrap();

    let seen = overview(&browser, 0).await;

    let tool = &seen["tools"][0];
    assert_eq!((&tool["name"], &tool["calls"]), (&json!("poet"), &json!(2)));
    assert_eq!((&tool["tokens"], &tool["cost"]), (&json!(2_200), &json!(0.009)));
    assert_eq!(seen["tools"].as_array().unwrap().len(), 1);
    let runs = browser.runs().await;
    let below = runs.iter().find(|run| !run["parent"].is_null()).unwrap();
    assert_eq!(below["tool"], "poet");
}

#[tokio::test]
async fn the_first_view_counts_runs_models_tools_tokens_money_and_hooks() {
    let prices = PriceTable::new().model("scripted", 3_000_000, 15_000_000);
    let studio = Studio::new().prices(prices, "USD");
    let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
        let answered = request.messages.last().and_then(|msg| msg.tool_results().next());
        let answer: ScriptedAnswer = match answered {
            Some(_) => "It says text.".into(),
            None => ToolUse::new("call-1", "read", json!({ "path": "a" })).into(),
        };
        answer.costing(Usage::new(1_000, 100))
    });
    let fails = FunctionTool::new("read", "Reads.", async |_: Value| -> Result<String, String> {
        Err("gone".to_owned())
    });
    let notes = on(|_: &mut PreReasoning<'_>| Flow::Continue);
    let agent = ReActAgent::builder("clerk").model(model).tool(fails).hook(notes.named("notes"));
    let agent = agent.hook(studio.hook()).build().unwrap();
    let broken = ReActAgent::builder("broken");
    let broken = broken.model(ScriptedModel::new("down", |_| ModelError::status("down", 500)));
    let broken = broken.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call_with(CallOptions::new().user("ada"), "What does it say?").await.unwrap();
    broken.call("Go").await.unwrap_err();

    let seen = overview(&browser, 0).await;
    let runs = &seen["runs"];
    assert_eq!(
        (&runs["total"], &runs["finished"], &runs["failed"], &runs["running"]),
        (&json!(2), &json!(1), &json!(1), &json!(0))
    );
    assert_eq!((&seen["tokens"]["input"], &seen["tokens"]["output"]), (&json!(2_000), &json!(200)));
    // 2,000 at 3, and 200 at 15 for a million.
    assert_eq!(seen["cost"], json!({ "total": 0.009, "currency": "USD", "unpriced": 1 }));
    assert_eq!(seen["calls"]["count"], 2);
    assert!(seen["calls"]["p95_ms"].is_u64());
    let model = &seen["models"][0];
    assert_eq!(
        (&model["name"], &model["calls"], &model["failed"]),
        (&json!("scripted"), &json!(2), &json!(0))
    );
    assert!(model["first_p50_ms"].is_u64());
    assert_eq!(seen["models"][1]["failed"], 1);
    let tool = &seen["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["calls"], &tool["failed"]),
        (&json!("read"), &json!(1), &json!(1))
    );
    let hook = seen["hooks"].as_array().unwrap().iter().find(|it| it["name"] == "notes").unwrap();
    assert_eq!(
        (&hook["runs"], &hook["changes"], &hook["refusals"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert_eq!((&seen["users"][0]["name"], &seen["users"][0]["runs"]), (&json!("ada"), &json!(1)));
    assert_eq!(seen["agents"].as_array().unwrap().len(), 2);
    let steps = seen["by_time"].as_array().unwrap();
    assert!(steps.len() <= 48);
    assert_eq!(steps.iter().map(|step| step["runs"].as_u64().unwrap()).sum::<u64>(), 2);

    let later = overview(&browser, u64::MAX).await;
    assert_eq!(later["runs"]["total"], 0, "they have ended before");
}

#[tokio::test]
async fn a_first_view_of_nothing_is_whole() {
    let browser = open(&Studio::new()).await;
    let seen = overview(&browser, 0).await;
    assert_eq!(seen["runs"]["total"], 0);
    assert!(seen["cost"].is_null() && seen["calls"]["p50_ms"].is_null());
}

#[tokio::test]
async fn what_runs_say_is_found_and_what_hooks_removed_is_not() {
    let studio = Studio::new();
    let model = calls_then("read", json!({ "path": "Größe/plan.txt" }), "The plan is old.");
    let redact = PiiDetection::email().strategy(PiiStrategy::Mask);
    let agent = ReActAgent::builder("clerk").model(model).tool(reads("A RED barn")).hook(redact);
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call(format!("Read it for {MAIL}")).await.unwrap();
    for (text, kind) in [
        ("read%20it", "input"),
        ("gr%C3%B6%C3%9Fe", "tool_started"),
        ("red%20BARN", "tool_finished"),
        ("plan%20is%20old", "finished"),
    ] {
        let hits = hits(&browser, text).await;
        assert!(hits.iter().any(|hit| hit["type"] == kind), "{text}: {hits:?}");
        assert!(hits.iter().all(|hit| hit["seq"].is_u64() && hit["agent"] == "clerk"));
    }
    assert!(hits(&browser, MAIL).await.is_empty());
    assert!(hits(&browser, "hidden").await.is_empty(), "not what the studio says itself");
    assert_eq!(browser.get("/api/search?q=a").await.status(), 422);
    assert_eq!(browser.get("/api/search").await.status(), 400);
}

#[tokio::test]
async fn what_is_not_shown_is_not_found() {
    let studio = Studio::new().show_content(false);
    let agent = ReActAgent::builder("clerk").model(says("A red barn.")).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call("Where is the blue house?").await.unwrap();
    assert!(hits(&browser, "barn").await.is_empty() && hits(&browser, "house").await.is_empty());
}
