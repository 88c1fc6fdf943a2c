//! The cost of a statement does not grow with the rows that are stored beside it.

use crate::backend::{Backend, on_each};
use crate::suite::steps::{granted, key, message, step};

on_each! {
    ds_16_a_thread_is_read_by_its_index,
}

/// Fills the store with 100,000 threads of 10 messages.
const FILL: &str = "
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO thread (id, namespace, agent, thread, created, changed)
SELECT i, 'default', 'clerk', CAST(i AS TEXT), 0, 0 FROM n;
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO message (thread_id, seq, place, body) SELECT t.id, n.i, n.i, '{}' FROM thread t, n;
ANALYZE thread;
ANALYZE message";

async fn ds_16_a_thread_is_read_by_its_index(backend: &Backend) {
    let store = backend.store().await;
    backend.sql(FILL).await;
    let lease = granted(&store, &key("ada")).await;
    store.commit(&lease, &step(0)).await.unwrap();
    let plan = backend.plan_of_load(&lease).await;
    // PostgreSQL reads an empty table as a whole, which is no page.
    for table in ["thread", "message"] {
        assert!(!plan.contains(&format!("Seq Scan on {table}")), "{plan}");
        assert!(!plan.contains(&format!("SCAN {table}")), "{plan}");
    }
    assert_eq!(store.load(&lease).await.unwrap().messages.len(), 1);
}

#[tokio::test]
async fn ds_17_a_step_writes_what_is_new() {
    let backend = crate::backend::sqlite();
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.messages = (0..10_000).map(|seq| message(seq, "a message of the past")).collect();
    store.commit(&lease, &first).await.unwrap();
    let mut bytes = Vec::new();
    for version in 1..=4_u64 {
        let mut next = step(version);
        next.messages = vec![message(9_999 + version, "a new one")];
        let before = backend.log_length();
        store.commit(&lease, &next).await.unwrap();
        bytes.push(backend.log_length() - before);
    }
    println!("bytes that a step writes after 10,000 messages: {bytes:?}");
    // Pages of the thread, of the messages, of two indexes.
    assert!(bytes.iter().all(|bytes| (1..50_000).contains(bytes)), "{bytes:?}");
}
