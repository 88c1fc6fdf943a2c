//! Threads as a whole: lists, export and import, removal.

use std::time::Duration;

use hooks_agent_core::store::{Filter, HistoryRow, StoreError};
use serde_json::{Map, json};

use crate::backend::{Backend, on_each};
use crate::suite::steps::{granted, key, message, step, texts};

on_each! {
    threads_are_listed_by_filter_and_age,
    a_thread_that_was_cut_off_says_so,
    an_export_is_imported_as_it_was,
    an_import_replaces_no_thread,
    an_import_of_a_number_twice_writes_nothing,
    forgotten_threads_leave_nothing,
    a_thread_in_a_call_is_not_forgotten,
    only_old_threads_are_forgotten,
    there_is_no_history_of_no_thread,
}

async fn threads_are_listed_by_filter_and_age(backend: &Backend) {
    let store = backend.store().await;
    for thread in ["ada", "bob"] {
        let lease = granted(&store, &key(thread)).await;
        let mut first = step(0);
        first.messages = vec![message(0, "one"), message(1, "two")];
        first.user = Some(format!("user of {thread}").into());
        first.releases = true;
        store.commit(&lease, &first).await.unwrap();
    }
    backend.sql("UPDATE thread SET changed = 7 WHERE thread = 'bob'").await;
    let listed = store.threads(Filter::all()).await.unwrap();
    let names: Vec<_> = listed.iter().map(|info| info.key.thread()).collect();
    assert_eq!(names, ["bob", "ada"]);
    let bob = &listed[0];
    assert_eq!((bob.version, bob.messages, bob.waiting, bob.changed), (1, 2, 0, 7));
    assert_eq!((bob.user.as_deref(), bob.in_call), (Some("user of bob"), false));
    let count = async |filter| store.threads(filter).await.unwrap().len();
    assert_eq!(count(Filter::all().user("user of ada")).await, 1);
    assert_eq!(count(Filter::agent("clerk").thread("ada")).await, 1);
    assert_eq!(count(Filter::agent("other")).await, 0);
    assert_eq!(count(Filter::all().unused_for(Duration::from_hours(1))).await, 1);
    assert_eq!(count(Filter::all().limit(1)).await, 1);
    assert_eq!(count(Filter::all().user("\0")).await, 0);
}

async fn a_thread_that_was_cut_off_says_so(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.in_call = true;
    store.commit(&lease, &first).await.unwrap();
    let info = async || store.threads(Filter::all()).await.unwrap().remove(0);
    assert!(info().await.is_owned && !info().await.is_cut_off());
    backend.sql("UPDATE thread SET lease_until = 1").await;
    assert!(!info().await.is_owned && info().await.is_cut_off());
}

async fn an_export_is_imported_as_it_was(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.values = vec![("count".into(), Some(json!(3)))];
    store.commit(&lease, &first).await.unwrap();
    let mut next = step(1);
    next.archived = vec![0];
    store.commit(&lease, &next).await.unwrap();
    let mut rows = store.history(&key("ada")).await.unwrap();
    rows[1].message["of_later"] = json!({ "x": 1 });
    let values = store.values(&key("ada")).await.unwrap();
    store.import(&key("bob"), rows.clone(), values.clone(), None).await.unwrap();
    assert_eq!(store.history(&key("bob")).await.unwrap(), rows);
    assert_eq!(store.values(&key("bob")).await.unwrap(), values);
    let lease = granted(&store, &key("bob")).await;
    let read = store.load(&lease).await.unwrap();
    assert_eq!((read.version, read.next, read.messages.len()), (2, 2, 1));
    let mut third = step(2);
    third.messages = vec![message(read.next, "three")];
    store.commit(&lease, &third).await.unwrap();
    assert_eq!(texts(&store.load(&lease).await.unwrap().messages), ["hello", "three"]);
}

async fn an_import_replaces_no_thread(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let error = store.import(&key("ada"), Vec::new(), Map::new(), None).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { expected: 0, found: 1, .. }), "{error}");
    assert_eq!(store.load(&lease).await.unwrap().messages.len(), 1);
}

async fn an_import_of_a_number_twice_writes_nothing(backend: &Backend) {
    let store = backend.store().await;
    let row = HistoryRow::new(0, 0, None, json!({}));
    let rows = vec![row.clone(), row];
    assert!(store.import(&key("ada"), rows, Map::new(), None).await.is_err());
    assert_eq!(store.threads(Filter::all()).await.unwrap(), []);
}

async fn forgotten_threads_leave_nothing(backend: &Backend) {
    let store = backend.store().await;
    for thread in ["ada", "bob"] {
        let lease = granted(&store, &key(thread)).await;
        let mut first = step(0);
        first.values = vec![("count".into(), Some(json!(3)))];
        first.calls = vec![hooks_agent_core::store::CallRecord::new("k", "1", "pay")];
        store.commit(&lease, &first).await.unwrap();
        store.release(&lease).await.unwrap();
    }
    assert_eq!(store.forget(Filter::agent("clerk").thread("ada")).await.unwrap(), 1);
    assert_eq!(store.forget(Filter::agent("clerk").thread("ada")).await.unwrap(), 0);
    assert!(store.history(&key("ada")).await.unwrap().is_empty());
    for table in ["thread", "message", "value", "tool_call"] {
        let count = backend.sql(&format!("SELECT * FROM {table}")).await.len();
        assert_eq!(count, 1, "{table}");
    }
    assert_eq!(granted(&store, &key("ada")).await.fence, 1);
}

async fn a_thread_in_a_call_is_not_forgotten(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    assert_eq!(store.forget(Filter::all()).await.unwrap(), 0);
    backend.sql("UPDATE thread SET lease_until = 1").await;
    assert_eq!(store.forget(Filter::all()).await.unwrap(), 1);
    let error = store.commit(&lease, &step(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::LeaseLost { .. }));
}

async fn only_old_threads_are_forgotten(backend: &Backend) {
    let store = backend.store().await;
    for thread in ["ada", "bob", "eve"] {
        let lease = granted(&store, &key(thread)).await;
        store.commit(&lease, &step(0)).await.unwrap();
        store.release(&lease).await.unwrap();
    }
    backend.sql("UPDATE thread SET changed = 7 WHERE thread <> 'ada'").await;
    let old = Filter::all().unused_for(Duration::from_hours(1));
    assert_eq!(store.forget(old.clone().user("u")).await.unwrap(), 0);
    assert_eq!(store.forget(old.clone().limit(1)).await.unwrap(), 1);
    assert_eq!(store.forget(old).await.unwrap(), 1);
    assert_eq!(store.threads(Filter::all()).await.unwrap()[0].key, key("ada"));
}

async fn there_is_no_history_of_no_thread(backend: &Backend) {
    let store = backend.store().await;
    assert!(store.history(&key("ada")).await.unwrap().is_empty());
    assert!(store.values(&key("ada")).await.unwrap().is_empty());
}
