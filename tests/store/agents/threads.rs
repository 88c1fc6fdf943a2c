//! Conversations outlive their agents.

use std::sync::Arc;

use hooks_agent::prelude::*;
use hooks_agent::store::{Decision, Filter, SqliteStore, Store};
use serde_json::{Value, json};

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
    assert_eq!(reply.reason, Some(hooks_agent::message::GenerateReason::PermissionAsking));
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
