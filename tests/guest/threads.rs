//! Threads of guests in an SQLite file.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hooks_agent_guest::{GuestThreads, GuestThreadsError};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

async fn count(threads: &mut GuestThreads, thread: &str) -> u64 {
    let count = threads.update(thread, async |thread| {
        let count = thread.values.get("count").and_then(serde_json::Value::as_u64).unwrap_or(0) + 1;
        thread.values.insert("count".into(), json!(count));
        count
    });
    count.await.unwrap()
}

#[tokio::test]
async fn values_outlive_the_process_and_are_of_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/threads.db");
    for expected in 1..=3 {
        let mut threads = GuestThreads::open(&path).await.unwrap();
        assert_eq!(count(&mut threads, "a").await, expected);
    }
    let mut threads = GuestThreads::open(&path).await.unwrap();
    assert_eq!(count(&mut threads, "b").await, 1);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_is_lost_between_connections() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    let mut threads = GuestThreads::open(&path).await.unwrap();
                    count(&mut threads, "a").await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let mut threads = GuestThreads::open(&path).await.unwrap();
    assert_eq!(count(&mut threads, "a").await, 81);
}

#[tokio::test]
async fn a_change_that_is_dropped_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let mut threads = GuestThreads::open(&path).await.unwrap();
    let (changed, is_changed) = tokio::sync::oneshot::channel();
    let change = threads.update("a", async |thread| {
        thread.values.insert("count".into(), json!(7));
        changed.send(()).unwrap();
        std::future::pending::<()>().await;
    });
    tokio::select! {
        _ = change => unreachable!("the change never ends"),
        changed = is_changed => changed.unwrap(),
    }
    drop(threads);
    let mut threads = GuestThreads::open(&path).await.unwrap();
    assert_eq!(count(&mut threads, "a").await, 1);
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    std::fs::write(&path, "these are the notes of a person, and no database\n".repeat(20)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let opened = GuestThreads::open(&path).await;
    assert!(matches!(opened, Err(GuestThreadsError::File(_))), "{opened:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(GuestThreads::open("/dev/null/threads.db").await.is_err());
    assert!(GuestThreads::open(folder.path()).await.is_err());
}

/// Sets when a thread had its last event.
async fn age(path: &Path, thread: &str, days: i64) {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    let seen = "UPDATE guest_thread SET seen = unixepoch() - ? * 24 * 3600 WHERE id = ?";
    sqlx::query(seen).bind(days).bind(thread).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_thread_without_an_event_for_30_days_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let mut threads = GuestThreads::open(&path).await.unwrap();
    for thread in ["old", "young"] {
        count(&mut threads, thread).await;
    }
    age(&path, "old", 31).await;
    age(&path, "young", 29).await;
    count(&mut threads, "other").await;
    assert_eq!(count(&mut threads, "old").await, 1);
    assert_eq!(count(&mut threads, "young").await, 2);
}

#[tokio::test]
async fn a_thread_whose_events_change_nothing_is_not_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let mut threads = GuestThreads::open(&path).await.unwrap();
    count(&mut threads, "a").await;
    age(&path, "a", 29).await;
    threads.update("a", async |_| {}).await.unwrap();
    let options = SqliteConnectOptions::new().filename(&path);
    let mut connection = options.connect().await.unwrap();
    let days = "SELECT (unixepoch() - seen) / (24 * 3600) FROM guest_thread WHERE id = 'a'";
    let (days,): (i64,) = sqlx::query_as(days).fetch_one(&mut connection).await.unwrap();
    assert_eq!(days, 0);
    assert_eq!(count(&mut threads, "a").await, 2);
}

#[tokio::test]
async fn a_session_that_is_a_part_of_another_counts_as_its_outermost_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut threads = GuestThreads::open(folder.path().join("threads.db")).await.unwrap();
    assert_eq!(threads.outermost("below", "above").await.unwrap(), "above");
    assert_eq!(threads.outermost("lowest", "below").await.unwrap(), "above");
    // The first parent stays.
    assert_eq!(threads.outermost("below", "elsewhere").await.unwrap(), "above");
    // A circle has an end.
    threads.outermost("above", "below").await.unwrap();
    assert_eq!(threads.outermost("alone", "alone").await.unwrap(), "alone");
}
