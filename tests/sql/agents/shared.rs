//! Which agents share threads, and which never do.

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Store;
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_sql::store::SqliteStore;
use serde_json::json;

use crate::agents::gate::Gate;
use crate::open::{LONG, address, open};

fn counter(name: &str, store: impl Store) -> ReActAgent {
    let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    ReActAgent::builder(name).model(model).store(store).build().unwrap()
}

async fn ds_02(first: ReActAgent, other_name: ReActAgent, other_namespace: ReActAgent) {
    let on = |thread: &str| CallOptions::new().thread(thread);
    for (agent, thread, expected) in [
        (&first, "a", "1"),
        (&first, "b", "1"),
        (&other_name, "a", "1"),
        (&other_namespace, "a", "1"),
        (&first, "a", "3"),
        (&first, "b", "3"),
        (&other_name, "a", "3"),
        (&other_namespace, "a", "3"),
    ] {
        let reply = agent.call_with(on(thread), "Hello").await.unwrap();
        assert_eq!(reply.text(), expected, "{agent:?} on {thread}");
    }
}

#[tokio::test]
async fn ds_02_threads_agents_and_namespaces_never_see_each_other() {
    let store = MemoryStore::new();
    let other = counter("clerk", store.namespace("other").unwrap());
    ds_02(counter("clerk", store.clone()), counter("poet", store), other).await;

    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    let other = counter("clerk", store.namespace("other").unwrap());
    ds_02(counter("clerk", store.clone()), counter("poet", store.clone()), other).await;
    // What is waiting, and the threads, are those of the namespace too.
    let other = store.namespace("third").unwrap();
    let filter = hooks_agent_core::store::Filter::all;
    assert!(other.threads(filter()).await.unwrap().is_empty());
    assert_eq!(other.forget(filter()).await.unwrap(), 0);
    assert_eq!(store.threads(filter()).await.unwrap().len(), 3);
}

fn waiter(gate: &Gate, store: impl Store) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None if request.last_text() == "Go" => ToolUse::new("1", "wait", json!({})).into(),
            None => request.messages.len().to_string().into(),
        }
    });
    let agent = ReActAgent::builder("clerk").model(model).tool(gate.tool("wait"));
    agent.store(store).build().unwrap()
}

/// The second of two agents of one name waits for the first.
async fn one_after_the_other(store: impl Store + Clone) {
    let gate = Gate::new();
    let (first, second) = (waiter(&gate, store.clone()), waiter(&gate, store));
    let queued = async {
        gate.entered().await;
        let mut call = Box::pin(second.call("Hello"));
        assert!(futures::poll!(call.as_mut()).is_pending());
        gate.open();
        call.await
    };
    let (done, hello) = futures::future::join(first.call("Go"), queued).await;
    assert_eq!((&*done.unwrap().text(), &*hello.unwrap().text()), ("done", "5"));
}

#[tokio::test]
async fn two_agents_of_one_name_share_threads_and_their_queue() {
    one_after_the_other(MemoryStore::new()).await;
    let folder = tempfile::tempdir().unwrap();
    one_after_the_other(open(&address(folder.path()), LONG).await).await;
}
