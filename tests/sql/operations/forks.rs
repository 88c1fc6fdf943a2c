//! Threads that begin with the messages of another one.

use std::sync::Arc;

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};
use hooks_agent_core::store::{
    Filter, ForkError, HistoryRow, Store, StoreError, StoredMessage, ThreadKey, fork,
};
use serde_json::{Map, Value, json};

use crate::backend::{Backend, on_each};
use crate::suite::steps::{granted, key, step};

on_each! {
    a_fork_has_the_first_messages_the_values_and_the_user,
    a_fork_goes_on_and_is_forked_itself,
    threads_of_sub_agents_are_forked_with_the_thread,
    a_fork_that_cannot_be_writes_nothing,
}

fn message(msg: &Msg) -> Value {
    serde_json::to_value(msg).unwrap()
}

fn call() -> (Msg, Msg) {
    let call = ToolUse::new("call_7", "pay", json!({}));
    let result = Msg::tool_result(ToolResult::success(&call, "paid"));
    let asks = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call)]);
    (asks, result)
}

/// A thread of a question, a tool call, its result and an answer; the first message was replaced.
async fn thread(store: &dyn Store, user: Option<&str>) {
    let (asks, result) = call();
    let rows = vec![
        HistoryRow::new(0, 0, Some(3), message(&Msg::user("My card is 4532."))),
        HistoryRow::new(1, 4, None, message(&asks)),
        HistoryRow::new(2, 7, None, message(&result)),
        HistoryRow::new(3, 0, None, message(&Msg::user("My card is [redacted]."))),
        HistoryRow::new(4, 9, None, message(&Msg::assistant("bot", "Paid."))),
    ];
    let values = Map::from_iter([("tool_call_limit".to_owned(), json!({ "pay": 1 }))]);
    store.import(&key("ada"), rows, values, user.map(Into::into)).await.unwrap();
}

async fn version(store: &dyn Store, thread: &ThreadKey) -> u64 {
    let filter = Filter::agent(thread.agent()).thread(thread.thread());
    store.threads(filter).await.unwrap()[0].version
}

async fn texts(store: &dyn Store, thread: &ThreadKey) -> Vec<String> {
    let mut rows = store.history(thread).await.unwrap();
    rows.sort_by_key(|row| (row.place, row.seq));
    rows.iter().map(|row| row.message.to_string()).collect()
}

async fn a_fork_has_the_first_messages_the_values_and_the_user(backend: &Backend) {
    let store = backend.store().await;
    thread(&*store, Some("u")).await;
    let before = store.history(&key("ada")).await.unwrap();
    let again = fork(&*store, &key("ada"), 2, "again").await.unwrap();
    assert_eq!(again, key("again"));
    let texts = texts(&*store, &again).await;
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains("[redacted]") && texts[2].contains("paid"), "{texts:?}");
    assert!(!texts.concat().contains("4532"), "what was replaced is not there again");
    let values = store.values(&again).await.unwrap();
    assert_eq!(values["tool_call_limit"], json!({ "pay": 1 }), "no limit begins again");
    let of_user = store.threads(Filter::all().user("u")).await.unwrap();
    assert_eq!(of_user.len(), 2);
    assert_eq!(store.history(&key("ada")).await.unwrap(), before);
}

async fn a_fork_goes_on_and_is_forked_itself(backend: &Backend) {
    let store = backend.store().await;
    thread(&*store, None).await;
    let again = fork(&*store, &key("ada"), 2, "again").await.unwrap();
    let lease = granted(&store, &again).await;
    let mut next = step(version(&*store, &again).await);
    next.messages = vec![StoredMessage::new(10, 20, Arc::new(Msg::user("And now?")))];
    store.commit(&lease, &next).await.unwrap();
    store.release(&lease).await.unwrap();
    let more = fork(&*store, &again, 10, "once more").await.unwrap();
    assert_eq!(texts(&*store, &more).await.len(), 4);
}

async fn threads_of_sub_agents_are_forked_with_the_thread(backend: &Backend) {
    let store = backend.store().await;
    let of = |agent: &str, thread: &str| ThreadKey::new(agent, thread).unwrap();
    let own = [of("muse", "ada"), of("muse", "ada/2"), of("muse", "gone"), of("muse", "ada/gone")];
    let shared = of("muse", "library");
    let listed: Vec<_> = own.iter().chain([&shared]).collect();
    let values = Map::from_iter([("hooks_agent/sub_threads".to_owned(), json!(listed))]);
    let row = || vec![HistoryRow::new(0, 0, None, message(&Msg::user("Hello")))];
    store.import(&key("ada"), row(), values, None).await.unwrap();
    let labels = Map::from_iter([("rule_of_two".to_owned(), json!({ "untrusted": true }))]);
    for thread in [&own[0], &own[1], &shared] {
        store.import(thread, row(), labels.clone(), None).await.unwrap();
    }
    let again = fork(&*store, &key("ada"), 0, "again").await.unwrap();
    for thread in ["again", "again/2"] {
        let values = store.values(&of("muse", thread)).await.unwrap();
        assert_eq!(values["rule_of_two"], json!({ "untrusted": true }), "no label begins again");
    }
    // What is forgotten with the fork is its own alone.
    store.forget(Filter::agent("clerk").thread(again.thread())).await.unwrap();
    let mut left: Vec<_> = store.threads(Filter::all()).await.unwrap();
    left.sort_by_key(|info| (info.key.agent().to_owned(), info.key.thread().to_owned()));
    let left: Vec<_> = left.iter().map(|info| info.key.thread().to_owned()).collect();
    assert_eq!(left, ["ada", "ada", "ada/2", "library"]);
}

async fn a_fork_that_cannot_be_writes_nothing(backend: &Backend) {
    let store = backend.store().await;
    thread(&*store, None).await;
    let count = async || store.threads(Filter::all()).await.unwrap().len();
    let error = fork(&*store, &key("bob"), 0, "again").await.unwrap_err();
    assert!(matches!(error, ForkError::Store(StoreError::UnknownThread(_))), "{error:?}");
    // 0 was replaced.
    for last in [0, 5, u64::MAX] {
        let error = fork(&*store, &key("ada"), last, "again").await.unwrap_err();
        assert!(matches!(error, ForkError::NoMessage { .. }), "{error:?}");
    }
    let error = fork(&*store, &key("ada"), 1, "again").await.unwrap_err();
    assert!(matches!(&error, ForkError::Unanswered { ids, .. } if ids == &["call_7"]), "{error}");
    let error = fork(&*store, &key("ada"), 2, "ada").await.unwrap_err();
    assert!(matches!(error, ForkError::Store(StoreError::Conflict { .. })), "{error:?}");
    let error = fork(&*store, &key("ada"), 2, "x".repeat(10_000)).await.unwrap_err();
    assert!(matches!(error, ForkError::Store(StoreError::Name(_))), "{error:?}");
    assert_eq!(count().await, 1);

    let lease = granted(&store, &key("ada")).await;
    let mut running = step(version(&*store, &key("ada")).await);
    running.messages.clear();
    running.in_call = true;
    store.commit(&lease, &running).await.unwrap();
    let error = fork(&*store, &key("ada"), 2, "again").await.unwrap_err();
    assert!(matches!(error, ForkError::InCall { .. }), "{error:?}");
    assert_eq!(count().await, 1);
}
