//! The number of writes of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Durability, Filter, Store, StoreError, ThreadKey};
use serde_json::{Value, json};

use crate::agents::cut_off_calls::crash::crash;
use crate::kills::LEASE;
use crate::open::{LONG, address, messages, open};
use crate::watched::{Moment, Operation, Watch, Watched};

/// Counts commits.
#[derive(Default)]
struct Commits(AtomicUsize);

impl Watch for Commits {
    fn hear(&self, operation: Operation, _: usize, moment: Moment) -> Result<(), StoreError> {
        let is_counted = operation == Operation::Commit && moment == Moment::After;
        self.0.fetch_add(usize::from(is_counted), Ordering::Relaxed);
        Ok(())
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None => ToolUse::new("1", "write", json!({})).into(),
        }
    })
}

fn agent(store: impl Store, durability: Durability) -> ReActAgent {
    let write = FunctionTool::new("write", "Writes.", async |_: Value| "written");
    let agent = ReActAgent::builder("clerk").model(model()).tool(write).store(store);
    agent.durability(durability).build().unwrap()
}

#[tokio::test]
async fn a_call_writes_each_step_or_once_at_its_end() {
    for (durability, expected) in [(Durability::Step, 5), (Durability::Call, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let (store, commits) =
            (open(&address(folder.path()), LONG).await, Arc::new(Commits::default()));
        let agent = agent(Watched::new(store.clone(), commits.clone()), durability);
        assert_eq!(agent.call("Go").await.unwrap().text(), "done");
        // The messages, the tool call, its start, its result, the end.
        assert_eq!(commits.0.load(Ordering::Relaxed), expected, "{durability:?}");
        let key = ThreadKey::new("clerk", "default").unwrap();
        assert_eq!(messages(&*store, &key).await, agent.memory().messages());
        assert_eq!(agent.memory().messages().len(), 4);
    }
}

#[tokio::test]
async fn a_call_that_writes_once_writes_where_it_asks() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let write = FunctionTool::new("write", "Writes.", async |_: Value| "written");
    let ask = on(|event: &mut PreActing<'_>| event.ask("may it?"));
    let agent = ReActAgent::builder("clerk").model(model()).tool(write).hook(ask);
    let agent = agent.store(store.clone()).durability(Durability::Call).build().unwrap();
    let mut events = agent.stream("Go");
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        if let AgentEventKind::PermissionAsked(_) = event.unwrap().kind {
            assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_call_that_writes_once_is_as_if_it_had_not_been_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let at = address.clone();
    crash(
        async move |gate| {
            let agent = ReActAgent::builder("clerk").model(model()).tool(gate.tool("write"));
            let agent = agent.store(open(&at, LEASE).await).durability(Durability::Call);
            agent.build().unwrap()
        },
        "Go",
    )
    .await;
    let store = open(&address, LEASE).await;
    assert!(store.threads(Filter::all()).await.unwrap().iter().all(|it| it.messages == 0));
    let agent = agent(store, Durability::Call);
    assert_eq!(agent.call("Go").await.unwrap().text(), "done");
    assert_eq!(agent.memory().messages().len(), 4);
}
