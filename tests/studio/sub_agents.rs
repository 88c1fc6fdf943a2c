//! Sub-agents, and calls at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;
use hooks_agent_core::model::ChatRequest;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{open, says};

/// An agent that calls two tools at once, and then answers.
fn calls_both(tools: [&'static str; 2]) -> ScriptedModel {
    ScriptedModel::new("both", move |request| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        if last.tool_results().next().is_some() {
            return "Both are done.".into();
        }
        let calls = tools.iter().enumerate().map(|(index, tool)| {
            let task = json!({ "task": format!("task {index}") });
            ContentBlock::ToolUse(ToolUse::new(format!("call-{index}"), *tool, task))
        });
        calls.collect::<Vec<_>>().into()
    })
}

fn poet(studio: Option<&Studio>, name: &'static str) -> ReActAgent {
    let builder = ReActAgent::builder(name).model(says("A poem."));
    match studio {
        Some(studio) => builder.hook(studio.hook()).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

fn editor(studio: &Studio, poets: [&ReActAgent; 2]) -> ReActAgent {
    let [one, two] = poets;
    ReActAgent::builder("editor")
        .model(calls_both(["one", "two"]))
        .tool(one.to_tool("Writes."))
        .tool(two.to_tool("Writes."))
        .parallel_tools(true)
        .hook(studio.hook())
        .build()
        .unwrap()
}

#[tokio::test]
async fn sub_agents_are_runs_below_their_parent() {
    let studio = Studio::new();
    // One brings a hook of its own: its run is written once all the same.
    let (one, two) = (poet(Some(&studio), "one"), poet(None, "two"));
    let agent = editor(&studio, [&one, &two]);
    let browser = open(&studio).await;

    agent.call("Two poems").await.unwrap();

    let tree = browser.newest().await;
    let runs = tree["runs"].as_array().unwrap();
    let (parent, parts) = runs.split_first().unwrap();
    assert_eq!(parent["agent"], "editor");
    assert_eq!(parts.len(), 2);
    let entries = tree["entries"].as_array().unwrap();
    for part in parts {
        assert_eq!(part["parent"], parent["run"]);
        let call = if part["agent"] == "one" { "call-0" } else { "call-1" };
        assert_eq!(part["tool_call"], call);
        let own = entries.iter().filter(|it| it["run"] == part["run"] && it["type"] != "hook");
        let types: Vec<_> = own.map(|it| it["type"].as_str().unwrap()).collect();
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
                "reasoning_chunk",
                "model_finished",
                "reasoned",
                "finished",
                "settled",
            ],
            "{part}"
        );
        let entry = entries.iter().find(|it| it["run"] == part["run"]).unwrap();
        assert_eq!((&entry["parent"], &entry["tool_call"]), (&parent["run"], &json!(call)));
    }
    assert_eq!(parent["tools"], 2);
    let seqs: Vec<_> = entries.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
    let tools: BTreeSet<_> = entries
        .iter()
        .filter(|it| it["type"] == "tool_started")
        .map(|it| {
            (it["data"]["id"].as_str().unwrap(), it["data"]["input"]["task"].as_str().unwrap())
        })
        .collect();
    assert_eq!(tools, BTreeSet::from([("call-0", "task 0"), ("call-1", "task 1")]));
    // Of one alone, there are its own entries.
    let part = browser.json(&format!("/api/runs/{}", parts[0]["run"].as_str().unwrap())).await;
    assert_eq!(part["runs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_sub_agent_is_interrupted_alone() {
    let studio = Studio::new();
    let started = Arc::new(Notify::new());
    let told = started.clone();
    let wait = FunctionTool::new("wait", "Waits.", move |_: Value| {
        let told = told.clone();
        async move {
            told.notify_one();
            std::future::pending::<String>().await
        }
    });
    let waits = ScriptedModel::new("waits", |_| ToolUse::new("1", "wait", json!({})));
    let one = ReActAgent::builder("one").model(waits).tool(wait).build().unwrap();
    let two = poet(None, "two");
    let agent = editor(&studio, [&one, &two]);
    let browser = open(&studio).await;
    let call = tokio::spawn(async move { agent.call("Two poems").await });
    started.notified().await;

    let runs = browser.json("/api/runs?agent=one&state=running").await;
    let run = runs["runs"][0]["run"].as_str().unwrap();
    let answer = browser.post(&format!("/api/runs/{run}/interrupt"), &json!({})).await;

    assert_eq!(answer.status(), 202);
    assert_eq!(call.await.unwrap().unwrap().text(), "Both are done.");
    let runs = browser.runs().await;
    let state =
        |agent: &str| runs.iter().find(|run| run["agent"] == agent).unwrap()["state"].clone();
    assert_eq!((state("one"), state("editor")), (json!("interrupted"), json!("finished")));
}

#[tokio::test]
async fn a_class_hook_and_an_own_one_write_once() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk")
        .model(says("Done."))
        .hook(studio.hook())
        .hook(studio.hook().named("again"))
        .build()
        .unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let run = browser.newest().await;
    let started =
        run["entries"].as_array().unwrap().iter().filter(|it| it["type"] == "finished").count();
    assert_eq!(started, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_calls_at_once_are_eight_runs() {
    let studio = Studio::new();
    let echo = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = ReActAgent::builder("clerk").model(echo).hook(studio.hook()).build().unwrap();
    let agent = Arc::new(agent);
    let browser = open(&studio).await;
    let mut stream = browser.events(None).await;

    let calls = (0..8).map(|index| {
        let options = CallOptions::new().thread(format!("thread-{index}"));
        tokio::spawn(agent.clone().call_owned(options, format!("text of {index}")))
    });
    for call in join_all(calls).await {
        call.unwrap().unwrap();
    }
    let mut seen: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut ended = 0;
    while ended < 8 {
        let message = stream.next().await.unwrap();
        if message.event == "event" {
            ended += usize::from(message.data["type"] == "settled");
            let run = message.data["run"].as_str().unwrap().to_owned();
            seen.entry(run).or_default().push(message.data);
        }
    }

    for run in browser.runs().await {
        let id = run["run"].as_str().unwrap();
        let tree = browser.json(&format!("/api/runs/{id}")).await;
        assert_eq!(tree["entries"], json!(seen[id]));
        let index = run["thread"].as_str().unwrap().strip_prefix("thread-").unwrap();
        assert_eq!(run["title"], format!("text of {index}"));
        let finished = seen[id].iter().find(|it| it["type"] == "finished").unwrap();
        assert_eq!(finished["data"]["content"][0]["text"], format!("text of {index}"));
    }
    assert_eq!(seen.len(), 8);
}

#[tokio::test]
async fn a_question_of_a_sub_agent_is_decided_on_the_page() {
    let studio = Studio::new();
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let one = ReActAgent::builder("one")
        .model(crate::support::calls_then("pay", json!({ "euros": 1 }), "I paid."))
        .tool(pay.permission(|_| Permission::Ask))
        .build()
        .unwrap();
    let model = ScriptedModel::new("editor", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("call-0", "one", json!({ "task": "pay" })).into(),
        }
    });
    let agent = ReActAgent::builder("editor").model(model).tool(one.to_tool("Pays."));
    let agent = Arc::new(agent.hook(studio.hook()).build().unwrap());
    let browser = open(&studio.clone().agent(agent.clone())).await;
    agent.call("Pay").await.unwrap();
    assert_eq!(browser.runs().await.iter().filter(|run| run["state"] == "waiting").count(), 2);
    let mut stream = browser.events(None).await;

    let question = browser.question().await;
    assert_eq!(
        (&question["agents"], &question["call_id"]),
        (&json!(["one"]), &json!("call-0/call-1"))
    );
    let (status, _) = browser.decide(&question, json!({ "decision": "approve" })).await;

    assert_eq!(status, 200);
    stream.until_settled().await;
    let run = browser.newest().await;
    let finished = run["entries"].as_array().unwrap().iter().rfind(|it| it["type"] == "finished");
    assert_eq!(finished.unwrap()["data"]["content"][0]["text"], "I paid.");
}
