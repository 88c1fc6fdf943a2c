//! Runs and their entries.

use std::sync::Arc;

use hooks_agent_builtin::recover::ModelRetry;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{calls_then, open, reads, says};

#[tokio::test]
async fn a_run_is_listed_with_its_entries_and_streamed() {
    let studio = Studio::new();
    let read = FunctionTool::new("read", "Reads.", async |_: Value| "text");
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({ "path": "a" }), "It says text."))
        .tool(read)
        .hook(studio.hook())
        .build()
        .unwrap();
    let browser = open(&studio).await;
    let mut stream = browser.events(None).await;

    agent.call("What does it say?").await.unwrap();

    let streamed = stream.until_settled().await;
    let run = browser.newest().await;
    let types: Vec<_> =
        run["entries"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "started",
            "input",
            "request",
            "reasoning_started",
            "model_started",
            "model_first",
            "reasoning_chunk",
            "model_finished",
            "reasoned",
            "tool_started",
            "tool_finished",
            "request",
            "reasoning_started",
            "model_started",
            "model_first",
            "reasoning_chunk",
            "reasoning_chunk",
            "reasoning_chunk",
            "model_finished",
            "reasoned",
            "finished",
            "settled",
        ],
        "{run:#}"
    );
    let summary = &run["runs"][0];
    assert_eq!(summary["state"], "finished");
    assert_eq!(summary["title"], "What does it say?");
    assert_eq!((&summary["rounds"], &summary["tools"]), (&json!(2), &json!(1)));
    let streamed: Vec<_> =
        streamed.iter().filter(|it| it.event == "event").map(|it| it.data.clone()).collect();
    assert_eq!(&streamed, run["entries"].as_array().unwrap());
}

#[tokio::test]
async fn a_method_that_is_called_without_a_call_leaves_no_run_behind() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(says("Done.")).tool(reads("text"));
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    let call = Arc::new(ToolUse::new("1", "read", json!({})));
    agent.tool_call(CallContext::default(), call).await.unwrap();
    let runs = browser.runs().await;
    assert!(runs.iter().all(|run| run["state"] != "running"), "{runs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_failed_says_why_without_content() {
    let studio = Studio::new();
    let failed = async |builder: hooks_agent_core::react::ReActAgentBuilder| {
        let agent = builder.hook(studio.hook()).build().unwrap();
        let browser = open(&studio).await;
        agent.call("Go").await.unwrap_err();
        let run = browser.newest().await;
        let entries = run["entries"].as_array().unwrap();
        entries.iter().find(|it| it["type"] == "failed").unwrap()["data"].clone()
    };
    let busy = || ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
    let once = ReActAgent::builder("clerk").model(busy());
    let expected = json!({ "kind": "model", "status": 503, "attempts": 1, "model": "busy" });
    assert_eq!(failed(once).await, expected);
    let often = ReActAgent::builder("clerk").model(busy()).hook(ModelRetry::new());
    let often = failed(often).await;
    assert!(often["attempts"].as_u64().unwrap() > 1, "{often}");
    let away = ScriptedModel::new("away", |_| ModelError::unreachable("m", "http://h", "secret"));
    let away = failed(ReActAgent::builder("clerk").model(away)).await;
    assert_eq!(away, json!({ "kind": "model", "attempts": 1, "model": "away" }));
    let guard = on(|_: &mut PreReasoning<'_>| -> HookResult { Err("secret".into()) });
    let guarded = ReActAgent::builder("clerk").model(says("Done.")).hook(guard.named("guard"));
    assert_eq!(failed(guarded).await, json!({ "kind": "hook", "hook": "guard" }));
}
