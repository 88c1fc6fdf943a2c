//! Reports of stores, in numbers.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{CallRecord, Store};
use hooks_agent_core::thread::MemoryStore;
use serde_json::{Value, json};

use crate::backend::{Backend, on_each};
use crate::suite::decisions::{approve, ask};
use crate::suite::steps::{granted, key, step};

on_each! { a_report_counts_rows_and_nothing_of_another_namespace }

async fn a_report_counts_rows_and_nothing_of_another_namespace(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.values = vec![("count".into(), Some(json!(3)))];
    first.calls = vec![CallRecord::new("run/1", "1", "pay")];
    store.commit(&lease, &first).await.unwrap();
    let mut second = step(1);
    second.archived = vec![0];
    second.in_call = true;
    store.commit(&lease, &second).await.unwrap();
    let ids = ask(&store, "bob", 3).await;
    store.decide(vec![approve(&ids[0], "eve")]).await.unwrap();
    backend.sql("UPDATE thread SET lease_until = 1 WHERE thread = 'ada'").await;
    backend.sql(&format!("UPDATE question SET closed = 1 WHERE id = '{}'", ids[1])).await;
    backend.sql("UPDATE question SET since = since - 60000").await;

    let report = store.report().await.unwrap();
    assert_eq!((report.threads, report.cut_off), (2, 1));
    assert_eq!((report.messages, report.archived, report.values), (2, 1, 1));
    assert_eq!((report.waiting, report.decided, report.closed), (1, 1, Some(1)));
    assert_eq!((report.unanswered, report.schema), (1, Some(5)));
    let age = report.oldest_waiting.unwrap();
    assert!((60..90).contains(&age.as_secs()), "{age:?}");
    assert!(report.to_string().contains("2, 1 cut off in mid-call"), "{report}");
    assert!(report.to_string().contains("\nruns           0\n"), "{report}");
    assert_eq!(serde_json::to_value(&report).unwrap()["unanswered"], 1);

    let other = backend.leased("other", Duration::from_secs(30)).await;
    let report = other.report().await.unwrap();
    assert_eq!((report.threads, report.messages, report.archived, report.values), (0, 0, 0, 0));
    assert_eq!((report.waiting, report.decided, report.closed), (0, 0, Some(0)));
    assert_eq!((report.unanswered, report.cut_off, report.oldest_waiting), (0, 0, None));
    assert_eq!(report.runs, Some(0));
}

#[tokio::test]
async fn a_store_in_memory_is_counted_too() {
    let store = MemoryStore::new();
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.last_text().as_str() {
            "pay" => ToolUse::new("1", "pay", json!({})).into(),
            _ => "done".into(),
        }
    });
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let agent = ReActAgent::builder("clerk")
        .model(model)
        .tool(pay.permission(|_| Permission::Ask))
        .store(store.clone())
        .build()
        .unwrap();
    agent.call("pay").await.unwrap();
    let shared: Arc<dyn Store> = Arc::new(store);
    let report = shared.report().await.unwrap();
    assert_eq!((report.threads, report.messages, report.unanswered), (1, 2, 1));
    assert_eq!((report.waiting, report.closed, report.schema), (1, None, None));
    assert!(report.oldest_waiting.is_some() && report.runs.is_none());
}
