//! Steps: written as a whole or not at all, and read as they were written.

use std::sync::Arc;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::{Msg, ToolResult, ToolUse};
use hooks_agent_core::store::{
    Acquired, CallRecord, CallState, Claim, Lease, Step, StoreError, StoredMessage, ThreadKey,
};
use serde_json::json;

use crate::backend::{Backend, Shared, on_each};

on_each! {
    a_step_is_read_as_it_was_written,
    a_step_of_another_version_writes_nothing,
    a_step_that_fails_writes_nothing,
    replaced_messages_stay_as_history,
    calls_are_kept_until_they_are_answered,
    values_are_changed_and_removed,
    a_text_with_nul_is_kept,
    fields_that_are_not_known_survive,
    a_message_that_cannot_be_read_is_named,
    a_dropped_commit_is_done_or_not_done,
    a_step_that_releases_frees_the_thread,
    a_step_is_written_once_also_if_it_is_committed_again,
}

pub(crate) fn key(thread: &str) -> ThreadKey {
    ThreadKey::new("clerk", thread).unwrap()
}

/// Returns the lease of a thread that is free.
pub(crate) async fn granted(store: &Shared, key: &ThreadKey) -> Lease {
    match store.acquire(key, RunId::random(), &Claim::new()).await.unwrap() {
        Acquired::Granted { lease, .. } => lease,
        other => panic!("{key}: {other:?}"),
    }
}

pub(crate) fn message(seq: u64, text: &str) -> StoredMessage {
    StoredMessage::new(seq, seq, Arc::new(Msg::user(text)))
}

/// Returns a step of one message, made from this version.
pub(crate) fn step(version: u64) -> Step {
    let mut step = Step::default();
    step.version = version;
    step.messages = vec![message(version, "hello")];
    step
}

pub(crate) fn texts(messages: &[StoredMessage]) -> Vec<String> {
    messages.iter().map(|message| message.msg.text()).collect()
}

async fn a_step_is_read_as_it_was_written(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut written = step(0);
    written.messages = vec![message(0, "one"), message(1, "two")];
    written.values = vec![("count".into(), Some(json!({ "n": 1 })))];
    written.calls = vec![CallRecord::new("run/1", "1", "pay")];
    written.state = json!({ "round": 2 });
    written.user = Some("u".into());
    written.in_call = true;
    store.commit(&lease, &written).await.unwrap();
    let other = backend.store().await;
    let read = other.load(&lease).await.unwrap();
    assert_eq!((read.version, read.next), (1, 2));
    assert_eq!(read.messages, written.messages);
    assert_eq!(read.calls, written.calls);
    assert_eq!((read.values["count"].clone(), read.state), (json!({ "n": 1 }), written.state));
    let mut next = step(1);
    next.messages = vec![message(2, "three")];
    other.commit(&lease, &next).await.unwrap();
    let read = store.load(&lease).await.unwrap();
    assert_eq!(texts(&read.messages), ["one", "two", "three"]);
    assert_eq!((read.version, read.next, read.state), (2, 3, json!(null)));
}

async fn a_step_of_another_version_writes_nothing(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let before = store.load(&lease).await.unwrap();
    let mut late = step(0);
    late.messages = vec![message(1, "late")];
    late.values = vec![("late".into(), Some(json!(1)))];
    late.releases = true;
    let error = store.commit(&lease, &late).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Conflict { thread, expected: 0, found: 1 } if *thread == key("ada")),
        "{error}"
    );
    assert_eq!(store.load(&lease).await.unwrap(), before);
}

async fn a_step_that_fails_writes_nothing(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let before = store.load(&lease).await.unwrap();
    let mut twice = step(1);
    twice.values = vec![("late".into(), Some(json!(1)))];
    twice.messages = vec![message(1, "new"), message(0, "a number that is used")];
    let error = store.commit(&lease, &twice).await.unwrap_err();
    assert!(matches!(error, StoreError::Failed(_)), "{error}");
    assert_eq!(store.load(&lease).await.unwrap(), before);
    store.commit(&lease, &step(1)).await.unwrap();
}

async fn replaced_messages_stay_as_history(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.messages = (0..4).map(|seq| message(seq, &seq.to_string())).collect();
    store.commit(&lease, &first).await.unwrap();
    let mut compressed = step(1);
    let summary = Arc::new(Msg::user("0 to 2"));
    compressed.messages = vec![StoredMessage::new(4, 0, summary), message(5, "5")];
    compressed.archived = vec![0, 1, 2];
    store.commit(&lease, &compressed).await.unwrap();
    let read = store.load(&lease).await.unwrap();
    assert_eq!(texts(&read.messages), ["0 to 2", "3", "5"]);
    assert_eq!(read.next, 6);
    let history = store.history(&key("ada")).await.unwrap();
    let archived: Vec<_> = history.iter().map(|row| (row.seq, row.archived)).collect();
    let replaced = Some(2);
    let whole = [(0, replaced), (1, replaced), (2, replaced), (3, None), (4, None), (5, None)];
    assert_eq!(archived, whole);
    assert_eq!(history[1].message["content"][0]["text"], "1");
    assert_eq!(history[1].message["v"], 1);
}

async fn calls_are_kept_until_they_are_answered(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let call = |id: &str| CallRecord::new(format!("run\0{id}"), id, "pay");
    let mut asked = step(0);
    asked.calls = vec![call("1"), call("2"), call("3")];
    store.commit(&lease, &asked).await.unwrap();
    let with = |id, state| {
        let mut call = call(id);
        call.state = state;
        call
    };
    let mut held = with("2", CallState::Answered);
    let result = ToolResult::success(&ToolUse::new("2", "pay", json!({})), "paid");
    held.held = Some(Arc::new(result));
    let mut next = step(1);
    next.calls = vec![with("1", CallState::Started), held.clone(), with("3", CallState::Answered)];
    store.commit(&lease, &next).await.unwrap();
    let read = store.load(&lease).await.unwrap().calls;
    assert_eq!(read, [with("1", CallState::Started), held]);
    let mut last = step(2);
    last.calls = vec![with("1", CallState::Answered), with("2", CallState::Answered)];
    store.commit(&lease, &last).await.unwrap();
    assert_eq!(store.load(&lease).await.unwrap().calls, []);
    assert_eq!(backend.sql("SELECT state FROM tool_call").await, vec![["2"]; 3]);
}

async fn values_are_changed_and_removed(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let named = |name: &str, value| (name.to_owned(), value);
    let mut first = step(0);
    first.values = vec![named("a", Some(json!(1))), named("b", Some(json!(2)))];
    store.commit(&lease, &first).await.unwrap();
    let mut next = step(1);
    let twice = [named("c", Some(json!(3))), named("c", Some(json!(4)))];
    next.values = vec![named("a", None), named("b", Some(json!({ "x": [] }))), named("d", None)];
    next.values.extend(twice);
    store.commit(&lease, &next).await.unwrap();
    let values = json!({ "b": { "x": [] }, "c": 4 });
    assert_eq!(json!(store.load(&lease).await.unwrap().values), values);
    assert_eq!(json!(store.values(&key("ada")).await.unwrap()), values);
}

async fn a_text_with_nul_is_kept(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let text = "a\0b \u{fffd} \"quoted\" \\ '; DROP TABLE message; -- 🦀";
    let mut written = step(0);
    written.messages = vec![message(0, text)];
    written.values = vec![("note".into(), Some(json!(text)))];
    written.state = json!(text);
    store.commit(&lease, &written).await.unwrap();
    let read = store.load(&lease).await.unwrap();
    assert_eq!(texts(&read.messages), [text]);
    assert_eq!((&read.state, &read.values["note"]), (&json!(text), &json!(text)));
}

async fn fields_that_are_not_known_survive(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let body = r#"{"v":2,"role":"user","name":"user","content":[],"of_later":[1.0,{"x":null}]}"#;
    backend.sql(&format!("UPDATE message SET body = '{body}'")).await;
    store.commit(&lease, &step(1)).await.unwrap();
    assert_eq!(store.load(&lease).await.unwrap().messages.len(), 2);
    let history = store.history(&key("ada")).await.unwrap();
    assert_eq!(history[0].message, serde_json::from_str::<serde_json::Value>(body).unwrap());
}

async fn a_message_that_cannot_be_read_is_named(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    store.commit(&lease, &step(1)).await.unwrap();
    backend.sql(r#"UPDATE message SET body = '{"content":"hunter2"}' WHERE seq = 1"#).await;
    let error = store.load(&lease).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "message 1 of thread `ada` of agent `clerk` cannot be read from the store"
    );
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

async fn a_dropped_commit_is_done_or_not_done(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut version = 0;
    for polls in 0..40 {
        let next = step(version);
        let mut commit = store.commit(&lease, &next);
        for _ in 0..polls {
            if futures::poll!(&mut commit).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(commit);
        let read = store.load(&lease).await.unwrap();
        assert!(read.version == version || read.version == version + 1);
        // The commit may still be on its way; the next one then is one too many.
        match store.commit(&lease, &step(read.version)).await {
            Ok(()) => version = read.version + 1,
            Err(StoreError::Conflict { found, .. }) => version = found,
            Err(error) => panic!("{error:?}"),
        }
        let read = store.load(&lease).await.unwrap();
        assert_eq!((read.version, read.messages.len() as u64), (version, version));
    }
}

async fn a_step_that_releases_frees_the_thread(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut last = step(0);
    last.releases = true;
    store.commit(&lease, &last).await.unwrap();
    assert!(matches!(store.load(&lease).await, Err(StoreError::LeaseLost { .. })));
    let error = store.commit(&lease, &step(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::LeaseLost { .. }));
    assert_eq!(granted(&store, &key("ada")).await.fence, lease.fence + 1);
}

async fn a_step_is_written_once_also_if_it_is_committed_again(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    store.commit(&lease, &step(0)).await.unwrap();
    let mut last = step(1);
    last.releases = true;
    store.commit(&lease, &last).await.unwrap();
    store.commit(&lease, &last).await.unwrap();
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 2);
    granted(&store, &key("ada")).await;
    let error = store.commit(&lease, &last).await.unwrap_err();
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
}
