//! History is removed, conversations stay.

use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{CallRecord, CallState, Filter};

use crate::backend::{Backend, Shared, on_each};
use crate::suite::decisions::ask;
use crate::suite::steps::{granted, key, step, texts};

on_each! {
    only_history_is_pruned,
    only_threads_of_the_filter_are_pruned,
    nothing_of_another_namespace_is_pruned,
    what_another_process_forgets_does_not_come_back,
}

/// Leaves a thread with a message that was replaced, a tool call that is answered and one that is not.
async fn used(store: &Shared, thread: &str) {
    let lease = granted(store, &key(thread)).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let mut second = step(1);
    second.archived = vec![0];
    let mut answered = CallRecord::new("run/1", "1", "pay");
    answered.state = CallState::Answered;
    second.calls = vec![answered, CallRecord::new("run/2", "2", "pay")];
    second.releases = true;
    store.commit(&lease, &second).await.unwrap();
}

async fn only_history_is_pruned(backend: &Backend) {
    let store = backend.store().await;
    used(&store, "ada").await;
    let ids = ask(&store, "bob", 2).await;
    backend.sql(&format!("UPDATE question SET closed = 1 WHERE id = '{}'", ids[0])).await;

    assert_eq!(store.prune(Filter::all()).await.unwrap(), 3);
    assert_eq!(store.prune(Filter::all()).await.unwrap(), 0);
    let report = store.report().await.unwrap();
    assert_eq!((report.archived, report.closed), (0, Some(0)));
    assert_eq!((report.messages, report.waiting, report.unanswered), (2, 1, 1));

    // The numbers of messages that are gone are not used again.
    let lease = granted(&store, &key("ada")).await;
    let read = store.load(&lease).await.unwrap();
    assert_eq!((read.version, read.next, texts(&read.messages)), (2, 2, vec!["hello".to_owned()]));
    assert_eq!(read.calls.len(), 1);
}

async fn only_threads_of_the_filter_are_pruned(backend: &Backend) {
    let store = backend.store().await;
    for thread in ["ada", "bob", "eve"] {
        used(&store, thread).await;
    }
    backend.sql("UPDATE thread SET changed = 7 WHERE thread = 'bob'").await;
    assert_eq!(store.prune(Filter::agent("other")).await.unwrap(), 0);
    assert_eq!(store.prune(Filter::all().user("nobody")).await.unwrap(), 0);
    let old = Filter::all().unused_for(Duration::from_hours(1));
    assert_eq!(store.prune(old).await.unwrap(), 2);
    assert_eq!(store.history(&key("bob")).await.unwrap().len(), 1);
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 2);
    assert_eq!(store.prune(Filter::agent("clerk").thread("ada")).await.unwrap(), 2);
    assert_eq!(store.history(&key("eve")).await.unwrap().len(), 2);
}

async fn nothing_of_another_namespace_is_pruned(backend: &Backend) {
    let store = backend.store().await;
    used(&store, "ada").await;
    let other = backend.leased("other", Duration::from_secs(30)).await;
    assert_eq!(other.prune(Filter::all()).await.unwrap(), 0);
    assert_eq!(store.report().await.unwrap().archived, 1);
}

async fn what_another_process_forgets_does_not_come_back(backend: &Backend) {
    let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    let count = on(|event: &mut PreCall<'_>| {
        event.context().update_thread_value("calls", |calls: &mut Option<u32>| {
            *calls = Some(calls.unwrap_or_default() + 1);
        })?;
        HookResult::Ok(())
    });
    let store = backend.store().await;
    let agent =
        ReActAgent::builder("clerk").model(model).hook(count).store(store.clone()).build().unwrap();
    let ada = || CallOptions::new().thread("ada");
    assert_eq!(agent.call_with(ada(), "my secret").await.unwrap().text(), "1");
    let other = backend.store().await;
    assert_eq!(other.forget(Filter::agent("clerk").thread("ada")).await.unwrap(), 1);
    assert_eq!(agent.call_with(ada(), "hello").await.unwrap().text(), "1");
    assert_eq!(other.history(&key("ada")).await.unwrap().len(), 2);
    assert_eq!(other.values(&key("ada")).await.unwrap()["calls"], 1);
}
