//! A process is stopped for longer than its lease.

use std::io::BufRead;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Store, StoreError, ThreadKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kills::process::Process;
use crate::kills::tasks::LEASE;
use crate::kills::worker::{self, Place};
use crate::open::{messages, open};

const AGENT: &str = "keeper";

/// The call of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    place: Place,
}

fn agent(store: impl Store, hold: FunctionTool) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None if request.last_text() == "Go" => ToolUse::new("1", "hold", json!({})).into(),
            None => request.messages.len().to_string().into(),
        }
    });
    let settled = on(|event: &mut Settled<'_>| println!("settled {}", event.outcome()));
    ReActAgent::builder(AGENT).model(model).tool(hold).hook(settled).store(store).build().unwrap()
}

/// Calls, holds the thread until it hears a line, and calls again.
pub(crate) async fn work(job: Job) {
    let hold = FunctionTool::blocking("hold", "Holds the thread.", |_: Value| {
        println!("holds");
        std::io::stdin().lock().lines().next().unwrap().unwrap()
    });
    let agent = agent(open(&job.place.address, LEASE).await, hold);
    let error = agent.call("Go").await.unwrap_err();
    assert!(matches!(error, AgentError::Store(StoreError::LeaseLost { .. })), "{error:?}");
    println!("lost {error}");
    println!("again {}", agent.call("Again").await.unwrap().text());
}

async fn ds_10_an_owner_that_was_stopped_writes_nothing_more(place: &Place) {
    let store = open(&place.address, LEASE).await;
    let mut first = Process::start(&worker::Job::Hold(Job { place: place.clone() }));
    first.says("holds").await.unwrap();
    first.signal("STOP");

    let second = agent(store.clone(), FunctionTool::new("hold", "Holds.", async |_: Value| "held"));
    let reply = second.resume(CallOptions::new()).await.unwrap();
    assert!(reply.text().contains("the outcome of this call is unknown"), "{}", reply.text());
    let key = ThreadKey::new(AGENT, "default").unwrap();
    let before = messages(&*store, &key).await;
    assert_eq!(before.len(), 4);

    first.signal("CONT");
    first.hears("released").await;
    let settled = first.says("settled ").await.unwrap();
    assert!(settled.starts_with("failed: the lease of thread `default`"), "{settled}");
    let lost = first.says("lost ").await.unwrap();
    assert_eq!(settled, format!("failed: {lost}"));
    // The first process reads what the second one wrote.
    assert_eq!(first.says("again ").await.unwrap(), "5");
    assert!(first.ended().await.success());
    let after = messages(&*store, &key).await;
    assert_eq!(after.len(), 6);
    assert!(after.iter().zip(before.iter()).all(|(after, before)| after == before));
    assert!(!after.iter().any(|msg| msg.tool_results().any(|it| it.output.as_str() == "released")));
}

on_each!(ds_10_an_owner_that_was_stopped_writes_nothing_more);
