//! Filters: by index, in pages, and past what has nothing to do.

use hooks_agent_core::store::{CallRecord, CallState, Filter, Store, ThreadKey};
use hooks_agent_sql::store::{PostgresStore, SqliteStore};

use crate::backend::{Backend, Shared, on_each};
use crate::suite::decisions::{approve, ask};
use crate::suite::steps::{granted, key, step};

on_each! {
    lists_of_threads_use_an_index,
    pages_by_name_have_each_thread_once_whatever_is_written_meanwhile,
    pages_of_questions_have_each_question_once,
    threads_that_were_cut_off_are_found,
    a_limited_prune_goes_on_past_threads_without_history,
}

/// Fills the store with 20,000 threads, one of them in a call.
const FILL: &str = "
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO thread (id, namespace, agent, thread, version, \"user\", in_call, created, changed)
SELECT i, 'default', 'clerk', 'thread ' || CAST(i AS TEXT), 1, 'user ' || CAST(i AS TEXT),
    CASE WHEN i = 7 THEN 1 ELSE 0 END, 0, i FROM n;
ANALYZE thread";

async fn lists_of_threads_use_an_index(backend: &Backend) {
    drop(backend.store().await);
    backend.sql(FILL).await;
    let name = || ThreadKey::new("clerk", "thread 500").unwrap();
    let filters = [
        (Filter::agent("clerk").thread("thread 7"), vec!["default", "clerk", "thread 7"]),
        (Filter::all().thread("thread 7"), vec!["default", "thread 7"]),
        (Filter::all().user("user 7"), vec!["default", "user 7"]),
        (Filter::all().cut_off(), vec!["default"]),
        (Filter::all().by_name(None).limit(10), vec!["default", "10"]),
        (
            Filter::all().by_name(Some(name())).limit(10),
            vec!["default", "clerk", "thread 500", "10"],
        ),
    ];
    for (filter, params) in filters {
        let (explain, mut sql) = match backend {
            Backend::Sqlite(_) => ("EXPLAIN QUERY PLAN", SqliteStore::list_sql(&filter)),
            Backend::Postgres(_) => ("EXPLAIN", PostgresStore::list_sql(&filter)),
        };
        for (number, param) in params.iter().enumerate() {
            let literal = if *param == "10" { "10".to_owned() } else { format!("'{param}'") };
            sql = sql.replace(&format!("${}", number + 1), &literal);
        }
        let plan = backend.sql(&format!("{explain} {sql}")).await;
        let plan: String = plan.into_iter().map(|row| row.join(" ") + "\n").collect();
        assert!(!plan.contains("Seq Scan on thread"), "{filter:?}\n{plan}");
        assert!(!plan.contains("SCAN t\n") && !plan.contains("SCAN t USING"), "{filter:?}\n{plan}");
        if filter.is_by_name {
            assert!(!plan.contains("Sort") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}

async fn named(store: &Shared, thread: &str) {
    let lease = granted(store, &key(thread)).await;
    let version = store.load(&lease).await.unwrap().version;
    let mut next = step(version);
    next.releases = true;
    store.commit(&lease, &next).await.unwrap();
}

async fn pages_by_name_have_each_thread_once_whatever_is_written_meanwhile(backend: &Backend) {
    let store = backend.store().await;
    let names: Vec<_> = (0..7).map(|number| format!("thread {number}")).collect();
    for name in &names {
        named(&store, name).await;
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.threads(Filter::agent("clerk").by_name(after).limit(2)).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        found.extend(page.iter().map(|info| info.key.thread().to_owned()));
        for name in &names {
            named(&store, name).await;
        }
        named(&store, "a thread before them").await;
    }
    assert_eq!(found, names);
}

async fn pages_of_questions_have_each_question_once(backend: &Backend) {
    let store = backend.store().await;
    let ids = ask(&store, "ada", 5).await;
    backend.sql("UPDATE question SET since = 7").await;
    let mut found = Vec::new();
    let mut filter = Filter::all().limit(2);
    loop {
        let page = store.waiting(filter.clone()).await.unwrap();
        let Some(last) = page.last() else { break };
        filter = filter.after(last);
        found.extend(page.iter().map(|question| question.id.clone()));
        // Those of the page are decided before the next one is read.
        let verdicts = page.iter().map(|question| approve(&question.id, "eve")).collect();
        store.decide(verdicts).await.unwrap();
    }
    let mut ids = ids;
    ids.sort();
    assert_eq!(found, ids);
}

async fn threads_that_were_cut_off_are_found(backend: &Backend) {
    let store = backend.store().await;
    named(&store, "idle").await;
    for thread in ["runs", "cut off"] {
        let lease = granted(&store, &key(thread)).await;
        let mut first = step(0);
        first.in_call = true;
        store.commit(&lease, &first).await.unwrap();
    }
    assert_eq!(store.threads(Filter::all().cut_off()).await.unwrap(), []);
    backend.sql("UPDATE thread SET lease_until = 1 WHERE thread = 'cut off'").await;
    let found = store.threads(Filter::all().cut_off()).await.unwrap();
    assert_eq!(found.iter().map(|info| info.key.thread()).collect::<Vec<_>>(), ["cut off"]);
    assert!(found[0].is_cut_off());
}

/// Leaves a thread with a message that was replaced and a tool call that is answered.
async fn used(store: &Shared, thread: &str) {
    let lease = granted(store, &key(thread)).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let mut second = step(1);
    second.archived = vec![0];
    let mut answered = CallRecord::new("run/1", "1", "pay");
    answered.state = CallState::Answered;
    second.calls = vec![answered];
    second.releases = true;
    store.commit(&lease, &second).await.unwrap();
}

async fn a_limited_prune_goes_on_past_threads_without_history(backend: &Backend) {
    let store = backend.store().await;
    for thread in ["one", "two"] {
        named(&store, thread).await;
    }
    for thread in ["three", "four"] {
        used(&store, thread).await;
    }
    let ids = ask(&store, "five", 1).await;
    backend.sql(&format!("UPDATE question SET closed = 1 WHERE id = '{}'", ids[0])).await;
    for (age, thread) in ["one", "two", "three", "four", "five"].iter().enumerate() {
        backend.sql(&format!("UPDATE thread SET changed = {age} WHERE thread = '{thread}'")).await;
    }
    // All of a thread at a time, the oldest first.
    for (expected, kept) in [(2, 1), (2, 0), (1, 0), (0, 0)] {
        assert_eq!(store.prune(Filter::all().limit(1)).await.unwrap(), expected);
        let report = store.report().await.unwrap();
        assert_eq!(report.archived, kept, "{expected}");
    }
    assert_eq!(store.history(&key("three")).await.unwrap().len(), 1);
}
