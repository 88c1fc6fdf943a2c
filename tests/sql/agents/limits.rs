//! Counts that hooks keep with a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::limit::ModelCallLimit;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Store;
use serde_json::json;

use crate::agents::cut_off_calls::crash::crash;
use crate::agents::gate::Gate;
use crate::kills::LEASE;
use crate::open::{address, open};

fn agent(store: impl Store, gate: &Gate, asked: &Arc<AtomicUsize>) -> ReActAgent {
    let asked = asked.clone();
    let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        asked.fetch_add(1, Ordering::Relaxed);
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None => ToolUse::new("1", "wait", json!({})).into(),
        }
    });
    let limit = ModelCallLimit::builder().thread(5).build().unwrap();
    let agent = ReActAgent::builder("clerk").model(model).tool(gate.tool("wait")).hook(limit);
    agent.store(store).build().unwrap()
}

#[tokio::test]
async fn ds_11_a_limit_of_a_thread_counts_in_every_process_and_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let (asked, open_gate) = (Arc::<AtomicUsize>::default(), Gate::new());
    open_gate.open();
    open_gate.open();
    let first = agent(open(&address, LEASE).await, &open_gate, &asked);
    assert_eq!(first.call("Go").await.unwrap().text(), "done");

    let (at, count) = (address.clone(), asked.clone());
    crash(async move |gate| agent(open(&at, LEASE).await, gate, &count), "Go").await;
    assert_eq!(asked.load(Ordering::Relaxed), 3);

    let second = agent(open(&address, LEASE).await, &open_gate, &asked);
    assert_eq!(second.resume(CallOptions::new()).await.unwrap().text(), "done");
    // The first agent still has the counts of its own call in memory.
    let reply = first.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert_eq!(reply.text(), "Model call limits exceeded: thread limit (5/5)");
    assert_eq!(asked.load(Ordering::Relaxed), 5);
    let reply = second.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert_eq!(asked.load(Ordering::Relaxed), 5);
}
