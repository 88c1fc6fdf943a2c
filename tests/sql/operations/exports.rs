//! Threads as lines of JSON.

use std::error::Error;
use std::sync::Arc;

use hooks_agent_core::message::{Msg, ToolResult, ToolUse};
use hooks_agent_core::store::{
    ExportError, Filter, HistoryRow, ImportError, Store, StoreError, StoredMessage, export, import,
};
use hooks_agent_core::thread::MemoryStore;
use serde_json::{Map, Value, json};

use crate::backend::{Backend, on_each};
use crate::suite::steps::{granted, key, step};

on_each! {
    an_export_has_replaced_messages_values_and_the_user,
    a_thread_in_a_call_is_not_exported,
    a_thread_with_tool_calls_that_wait_is_not_exported,
    an_import_into_a_thread_that_there_is_writes_nothing,
    two_messages_of_one_number_are_not_imported,
    every_broken_export_writes_nothing_and_names_the_line,
}

async fn exported(store: &dyn Store, thread: &str) -> Vec<u8> {
    let mut lines = Vec::new();
    export(store, &key(thread), &mut lines).await.unwrap();
    lines
}

async fn an_export_has_replaced_messages_values_and_the_user(backend: &Backend) {
    let store = backend.store().await;
    let call = ToolUse::new("1", "pay", json!({ "euros": 0.1 }));
    let messages = [
        json!({ "v": 1, "role": "user", "name": "user", "content": [], "of_later": { "x": 1 } }),
        serde_json::to_value(Msg::from_blocks(
            hooks_agent_core::message::Role::Assistant,
            "bot",
            vec![hooks_agent_core::message::ContentBlock::ToolUse(call.clone())],
        ))
        .unwrap(),
        serde_json::to_value(Msg::tool_result(ToolResult::success(&call, "paid\0"))).unwrap(),
    ];
    let rows = vec![
        HistoryRow::new(0, 0, Some(3), messages[0].clone()),
        HistoryRow::new(1, 4, None, messages[1].clone()),
        HistoryRow::new(2, 7, None, messages[2].clone()),
        HistoryRow::new(3, 0, None, messages[0].clone()),
    ];
    let values = Map::from_iter([("count".to_owned(), json!({ "'": "\u{1F600}" }))]);
    store.import(&key("ada"), rows.clone(), values.clone(), Some("u".into())).await.unwrap();
    let lines = exported(&*store, "ada").await;
    let text = String::from_utf8(lines.clone()).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let expected = json!({
        "v": 1, "agent": "clerk", "thread": "ada", "user": "u", "values": values, "rows": 4,
    });
    assert_eq!(header, expected);
    assert_eq!(text.lines().count(), 5);

    assert_eq!(store.forget(Filter::all()).await.unwrap(), 1);
    assert_eq!(import(&*store, &*lines).await.unwrap(), key("ada"));
    assert_eq!(store.history(&key("ada")).await.unwrap(), rows);
    assert_eq!(exported(&*store, "ada").await, lines);
    assert_eq!(store.threads(Filter::all().user("u")).await.unwrap().len(), 1);
}

async fn a_thread_in_a_call_is_not_exported(backend: &Backend) {
    let store = backend.store().await;
    let mut lines = Vec::new();
    let error = export(&*store, &key("ada"), &mut lines).await.unwrap_err();
    assert!(matches!(error, ExportError::Store(StoreError::UnknownThread(_))), "{error:?}");
    let lease = granted(&store, &key("ada")).await;
    let mut running = step(0);
    running.in_call = true;
    store.commit(&lease, &running).await.unwrap();
    let error = export(&*store, &key("ada"), &mut lines).await.unwrap_err();
    assert!(matches!(error, ExportError::InCall { .. }), "{error:?}");
    assert!(lines.is_empty());
}

async fn a_thread_with_tool_calls_that_wait_is_not_exported(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut asking = step(0);
    let call = ToolUse::new("call_7", "pay", json!({}));
    let answer = Msg::from_blocks(
        hooks_agent_core::message::Role::Assistant,
        "bot",
        vec![hooks_agent_core::message::ContentBlock::ToolUse(call)],
    );
    asking.messages = vec![StoredMessage::new(0, 0, Arc::new(answer))];
    store.commit(&lease, &asking).await.unwrap();
    let mut lines = Vec::new();
    let error = export(&*store, &key("ada"), &mut lines).await.unwrap_err();
    assert!(matches!(&error, ExportError::Unanswered { ids, .. } if ids == &["call_7"]), "{error}");
    assert!(lines.is_empty());
}

async fn two_messages_of_one_number_are_not_imported(backend: &Backend) {
    let store = backend.store().await;
    let message = json!({ "v": 1, "role": "user", "name": "user", "content": [] });
    let row = |seq, archived| HistoryRow::new(seq, 0, archived, message.clone());
    let rows = vec![row(0, None), row(1, Some(2)), row(1, None)];
    let refused = store.import(&key("twice"), rows, Map::new(), None).await.unwrap_err();
    let reason = refused.source().unwrap().to_string();
    assert_eq!(reason, "two messages have the number 1");
    assert!(store.threads(Filter::all()).await.unwrap().is_empty());
}

async fn an_import_into_a_thread_that_there_is_writes_nothing(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.releases = true;
    store.commit(&lease, &first).await.unwrap();
    let lines = exported(&*store, "ada").await;
    let error = import(&*store, &*lines).await.unwrap_err();
    assert!(matches!(error, ImportError::Store(StoreError::Conflict { .. })), "{error:?}");
    assert_eq!(exported(&*store, "ada").await, lines);
}

const HEADER: &str = r#"{"v":1,"agent":"clerk","thread":"ada","values":{}}"#;
const ROW: &str = r#"{"seq":0,"place":0,"message":{"role":"user","name":"user","content":[]}}"#;

async fn every_broken_export_writes_nothing_and_names_the_line(backend: &Backend) {
    let store = backend.store().await;
    let orphan = r#"{"seq":1,"place":1,"message":{"role":"tool","name":"x","content":[
        {"type":"tool_result","id":"1","name":"x","output":"secret","is_error":false}]}}"#;
    let orphan = orphan.replace('\n', "");
    let other = ROW.replace("\"seq\":0", "\"seq\":1");
    let broken = [
        (String::new(), Some(1)),
        ("secret\n".to_owned(), Some(1)),
        ("{}\n".to_owned(), Some(1)),
        (format!("{}\n", HEADER.replace("ada", "")), None),
        (format!("{}\n", HEADER.replace("\"v\":1", "\"v\":3,\"of_later\":[]")), None),
        // One of several threads says how many messages each has.
        (format!("{}\n{ROW}\n", HEADER.replace("\"v\":1", "\"v\":2")), Some(1)),
        (format!("{HEADER}\n{ROW}"), Some(2)),
        (format!("{HEADER}\n{ROW}\n\n"), Some(3)),
        (format!("{HEADER}\n{ROW}\n{ROW}\n"), Some(3)),
        (
            format!(
                "{HEADER}\n{ROW}\n{}\n",
                other.replace("\"user\",\"name\"", "\"secret\",\"name\"")
            ),
            Some(3),
        ),
        (
            format!("{HEADER}\n{ROW}\n{}\n", other.replace("\"place\":0", "\"place\":\"secret\"")),
            Some(3),
        ),
        (
            format!(
                "{HEADER}\n{ROW}\n{}\n",
                other.replace("\"place\":0", "\"place\":9223372036854775808")
            ),
            Some(3),
        ),
        (format!("{}\n{ROW}\n", HEADER.replace("{}}", "{},\"rows\":2}")), None),
        (format!("{HEADER}\n{ROW}\n{orphan}\n"), None),
    ];
    for (text, line) in broken {
        let error = import(&*store, text.as_bytes()).await.unwrap_err();
        match (&error, line) {
            (ImportError::Line { line: found, .. }, Some(line)) => {
                assert_eq!(*found, line, "{text}");
            }
            (ImportError::Line { .. }, None) | (_, Some(_)) => panic!("{text}: {error:?}"),
            _ => {}
        }
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        assert_eq!(store.threads(Filter::all()).await.unwrap(), [], "{text}");
    }
    let whole = format!("{HEADER}\n{ROW}\n{other}\n");
    assert_eq!(import(&*store, whole.as_bytes()).await.unwrap(), key("ada"));
}

#[tokio::test]
async fn a_file_of_a_database_is_imported_into_memory() {
    let store = MemoryStore::new();
    let whole = format!("{HEADER}\n{ROW}\n");
    assert_eq!(import(&store, whole.as_bytes()).await.unwrap(), key("ada"));
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 1);
    let error = import(&store, whole.as_bytes()).await.unwrap_err();
    assert!(matches!(error, ImportError::Store(StoreError::Conflict { .. })), "{error:?}");
}
