//! Summaries of threads in a store.

use hooks_agent::prelude::*;
use hooks_agent::store::{SqliteStore, Store, ThreadKey};
use hooks_agent::testing::Script;

use super::messages;

#[tokio::test]
async fn replaced_messages_stay_in_the_store_as_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    let small = Script::new().says("s");
    let store = SqliteStore::open(&path).await.unwrap();
    let agent = |store: SqliteStore| {
        let model = ScriptedModel::new("m", |request| format!("a{}", request.messages.len()));
        let hook = messages(5, 2, &small).build().unwrap();
        ReActAgent::builder("bot").model(model).hook(hook).store(store).build().unwrap()
    };
    let first = agent(store.clone());
    for text in ["1", "2", "3"] {
        first.call(text).await.unwrap();
    }
    drop(first);

    // Another process goes on with the summary.
    let second = agent(SqliteStore::open(&path).await.unwrap());
    second.call("4").await.unwrap();
    let live: Vec<_> = second.memory().messages().iter().map(Msg::text).collect();
    let summary = "Here is a summary of the conversation to date:\n\ns";
    assert_eq!(live, [summary, "a3", "3", "a3", "4", "a5"]);

    let key = ThreadKey::new("bot", CallContext::DEFAULT_THREAD).unwrap();
    let history = store.history(&key).await;
    let history = history.unwrap();
    let text = |row: &hooks_agent::store::HistoryRow| row.message["content"][0]["text"].to_string();
    let archived: Vec<_> = history.iter().filter(|row| row.archived.is_some()).map(text).collect();
    assert_eq!(archived, [r#""1""#, r#""a1""#, r#""2""#]);
    let mut all: Vec<_> = history.iter().map(|row| row.seq).collect();
    all.dedup();
    assert_eq!(all.len(), 3 + live.len(), "nothing is there twice");
}
