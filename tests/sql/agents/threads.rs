//! Conversations outlive their agents.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::{CompressContext, ContextConfig};
use hooks_agent_core::store::{Decision, Filter, Store, ThreadKey};
use hooks_agent_sql::store::SqliteStore;
use hooks_core::{BoxError, BoxFuture};
use serde_json::{Value, json};

use crate::agents::stores::{Paid, clerk, places};
use crate::open::messages;

async fn sqlite(folder: &std::path::Path) -> SqliteStore {
    SqliteStore::open(folder.join("agents.db")).await.unwrap()
}

fn payer(store: impl Store, paid: &Arc<std::sync::Mutex<Vec<Value>>>) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("done: {}", result.output.as_str()).into(),
            None if request.last_text().starts_with("Pay") => {
                ToolUse::new("1", "pay", json!({ "euros": 12 })).into()
            }
            None => request.messages.len().to_string().into(),
        }
    });
    let paid = paid.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |input: Value| {
        paid.lock().unwrap().push(input);
        std::future::ready("paid")
    });
    let ask = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    ReActAgent::builder("clerk").model(model).tool(pay).hook(ask).store(store).build().unwrap()
}

#[tokio::test]
async fn ds_01_a_new_agent_continues_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let paid = Arc::default();
    let agent = payer(sqlite(folder.path()).await, &paid);
    assert_eq!(agent.call("hello").await.unwrap().text(), "1");
    assert_eq!(agent.call("again").await.unwrap().text(), "3");
    drop(agent);
    let agent = payer(sqlite(folder.path()).await, &paid);
    assert_eq!(agent.call("and again").await.unwrap().text(), "5");
}

#[tokio::test]
async fn ds_03_a_question_waits_for_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let paid: Arc<std::sync::Mutex<Vec<Value>>> = Arc::default();
    let agent = payer(sqlite(folder.path()).await, &paid);
    let on_ada = || CallOptions::new().thread("ada");
    let reply = agent.call_with(on_ada(), "Pay").await.unwrap();
    assert_eq!(reply.reason, Some(hooks_agent_core::message::GenerateReason::PermissionAsking));
    drop(agent);

    let store = sqlite(folder.path()).await;
    let waiting = store.waiting(Filter::agent("clerk")).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].arguments, json!({ "euros": 12 }));
    let agent = payer(store.clone(), &paid);
    let options = on_ada().decide(waiting[0].id.clone(), Decision::Approve);
    assert_eq!(agent.resume(options).await.unwrap().text(), "done: paid");
    assert_eq!(paid.lock().unwrap().len(), 1);
    assert!(store.waiting(Filter::all()).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_observed_is_stored_and_read_by_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let paid = Arc::default();
    let agent = payer(sqlite(folder.path()).await, &paid);
    let observe = async |agent: &ReActAgent, text: &str| {
        let cx = agent.context(CallOptions::new());
        agent.observe(cx, Msg::user(text)).await.unwrap();
    };
    observe(&agent, "it rains").await;
    assert_eq!(agent.call("hello").await.unwrap().text(), "2");
    observe(&agent, "it snows").await;
    drop(agent);
    let store = sqlite(folder.path()).await;
    let other = payer(store.clone(), &paid);
    observe(&other, "it thaws").await;
    assert_eq!(other.call("again").await.unwrap().text(), "6");
    let stored = messages(&store, &ThreadKey::new("clerk", "default").unwrap()).await;
    let texts: Vec<_> = stored.iter().map(Msg::text).collect();
    assert_eq!(texts, ["it rains", "hello", "2", "it snows", "it thaws", "again", "6"]);
}

/// Keeps the last message, behind a summary.
struct Shorten;

impl CompressContext for Shorten {
    fn compress<'a>(
        &'a self,
        messages: Messages,
        _: &'a ContextConfig,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        let last = messages.last().unwrap().clone();
        let summary = Msg::user(format!("summary of {}", messages.len() - 1));
        Box::pin(std::future::ready(Ok([summary, last].into_iter().collect())))
    }
}

#[tokio::test]
async fn ds_12_compressed_messages_stay_as_history() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path()).await;
    let build = || {
        let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
        let agent = ReActAgent::builder("clerk").model(model).store(store.clone());
        agent.compressor(Shorten, ContextConfig::new(16)).build().unwrap()
    };
    let said = ["one, two, three, four", "five, six, seven, eight", "nine, ten, eleven"];
    let mut replies = Vec::new();
    for text in said {
        // Each time in another process.
        replies.push(build().call(text).await.unwrap().text());
    }
    assert_eq!(replies, ["1", "3", "2"]);
    let key = ThreadKey::new("clerk", "default").unwrap();
    let current = messages(&store, &key).await;
    let texts: Vec<_> = current.iter().map(Msg::text).collect();
    assert_eq!(texts, ["summary of 4", said[2], "2"]);
    let rows = store.history(&key).await.unwrap();
    let archived: Vec<_> = rows.iter().filter(|row| row.archived.is_some()).collect();
    let texts: Vec<_> = archived
        .iter()
        .map(|row| serde_json::from_value::<Msg>(row.message.clone()).unwrap().text())
        .collect();
    assert_eq!(texts, [said[0], "1", said[1], "3"]);
    assert!(archived.iter().all(|row| row.archived == archived[0].archived));
}

#[tokio::test]
async fn a_history_is_that_of_the_store_before_and_after_a_restart() {
    for place in places().await {
        let (paid, on_ada) = (Paid::default(), || CallOptions::new().thread("ada"));
        let agent = clerk(place.open().await, &paid);
        agent.call_with(on_ada(), "Pay").await.unwrap();
        let history = agent.threads().history("ada").await.unwrap();
        assert_eq!(history.len(), 2);

        let later = clerk(place.open().await, &paid);
        assert_eq!(later.threads().history("ada").await.unwrap(), history);
        let memory = later.read_thread("ada").await.unwrap().unwrap();
        assert_eq!((memory.messages(), memory.waiting().len()), (history, 1));
        for unknown in ["u-17", CallContext::DEFAULT_THREAD] {
            assert!(later.threads().history(unknown).await.unwrap().is_empty());
            assert!(later.read_thread(unknown).await.unwrap().is_none(), "{unknown}");
        }
    }
}
