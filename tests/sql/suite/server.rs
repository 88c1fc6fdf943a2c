//! Tests of stores on a server alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Acquired, Claim, HistoryRow, StoreError};
use hooks_agent_sql::store::PostgresStore;

use crate::backend::{Backend, SERVER, Shared, postgres, unique};
use crate::suite::decisions::{approve, ask};
use crate::suite::steps::{granted, key, message, step};

fn schema(backend: &Backend) -> &str {
    match backend {
        Backend::Postgres(schema) => schema.name(),
        Backend::Sqlite(_) => unreachable!("these tests are of the server"),
    }
}

/// Opens a store whose connections have a name of their own.
async fn named(backend: &Backend, name: &str) -> Shared {
    let url = format!("{SERVER}?application_name={name}");
    let options = PostgresStore::options().schema(schema(backend)).connections(2);
    Arc::new(options.connect(&url).await.unwrap())
}

/// Ends the connections of this name.
async fn end_connections(backend: &Backend, name: &str) {
    let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity";
    backend.sql(&format!("{end} WHERE application_name = '{name}'")).await;
}

#[tokio::test]
async fn a_release_wakes_who_waits_in_another_process() {
    let Some(backend) = postgres().await else { return };
    let (store, other) = (backend.store().await, backend.store().await);
    let mut fastest = Duration::MAX;
    for round in 0..5 {
        let key = key(&format!("thread {round}"));
        let lease = granted(&store, &key).await;
        let waiter = RunId::random();
        assert_eq!(other.acquire(&key, waiter, &Claim::new()).await.unwrap(), Acquired::Busy);
        let begin = Instant::now();
        let mut last = step(0);
        last.releases = true;
        if round % 2 == 0 {
            store.commit(&lease, &last).await.unwrap();
        } else {
            store.release(&lease).await.unwrap();
        }
        other.freed(&key).await;
        fastest = fastest.min(begin.elapsed());
        let acquired = other.acquire(&key, waiter, &Claim::new()).await.unwrap();
        assert!(matches!(acquired, Acquired::Granted { is_takeover: false, .. }));
    }
    println!("a waiting call knew of the release after {fastest:?}");
    assert!(fastest < Duration::from_millis(900), "{fastest:?}");
}

#[tokio::test]
async fn a_release_wakes_nobody_who_waits_for_another_thread() {
    let Some(backend) = postgres().await else { return };
    let store = backend.store().await;
    let (ada, bob) = (granted(&store, &key("ada")).await, granted(&store, &key("bob")).await);
    assert_eq!(
        store.acquire(&key("bob"), RunId::random(), &Claim::new()).await.unwrap(),
        Acquired::Busy
    );
    assert_eq!(
        store.acquire(&key("ada"), RunId::random(), &Claim::new()).await.unwrap(),
        Acquired::Busy
    );
    let begin = Instant::now();
    store.release(&bob).await.unwrap();
    store.freed(&ada.thread).await;
    assert!(begin.elapsed() >= Duration::from_millis(990));
}

#[tokio::test]
async fn ds_14_a_lost_connection_leaves_no_half_a_step() {
    let Some(backend) = postgres().await else { return };
    let name = unique();
    let store = named(&backend, &name).await;
    let lease = granted(&store, &key("ada")).await;
    let mut version = 0;
    for round in 0..6_u32 {
        let ending = async {
            for _ in 0..round * 20 {
                tokio::task::yield_now().await;
            }
            end_connections(&backend, &name).await;
        };
        let next = step(version);
        let (written, ()) = futures::join!(store.commit(&lease, &next), ending);
        if let Err(error) = written {
            assert!(error.is_transient(), "{error:?}");
            // The answer is lost: the step may have been written. Writing it again is safe.
            while let Err(error) = store.commit(&lease, &next).await {
                assert!(error.is_transient(), "{error:?}");
            }
        }
        version += 1;
        let read = loop {
            match store.load(&lease).await {
                Ok(read) => break read,
                Err(error) => assert!(error.is_transient(), "{error:?}"),
            }
        };
        assert_eq!((read.version, read.messages.len() as u64), (version, version));
    }
}

#[tokio::test]
async fn listening_begins_again_after_a_lost_connection_and_ends_with_the_last_handle() {
    let Some(backend) = postgres().await else { return };
    let name = unique();
    let count = format!("SELECT pid FROM pg_stat_activity WHERE application_name = '{name}'");
    let listening = format!("{count} AND query LIKE 'LISTEN%'");
    let until = async |statement: &str, wanted: usize| {
        let begin = Instant::now();
        while backend.sql(statement).await.len() != wanted {
            assert!(begin.elapsed() < Duration::from_secs(20), "{statement}");
        }
    };
    let store = named(&backend, &name).await;
    until(&listening, 1).await;
    end_connections(&backend, &name).await;
    until(&listening, 1).await;
    drop(store);
    until(&count, 0).await;
}

#[tokio::test]
async fn what_is_refused_leaves_nothing_locked() {
    let Some(backend) = postgres().await else { return };
    let store = backend.store().await;
    let id = &ask(&store, "ada", 1).await[0];
    store.decide(vec![approve(id, "eve")]).await.unwrap();
    store.decide(vec![approve(id, "bob")]).await.unwrap_err();
    store.import(&key("ada"), Vec::new(), serde_json::Map::new(), None).await.unwrap_err();
    let row = HistoryRow::new(0, 0, None, serde_json::json!({}));
    let twice = vec![row.clone(), row];
    store.import(&key("bob"), twice, serde_json::Map::new(), None).await.unwrap_err();
    let locked = "SELECT q.id FROM question q JOIN thread t ON t.id = q.thread_id";
    let rows = backend.sql(&format!("{locked} FOR UPDATE NOWAIT")).await;
    assert_eq!(rows, [[id.to_string()]]);
}

#[tokio::test]
async fn ds_15_a_newer_schema_is_refused_and_left_as_it_is() {
    let Some(backend) = postgres().await else { return };
    drop(backend.store().await);
    backend.sql("UPDATE store_version SET version = 77").await;
    let options = PostgresStore::options().schema(schema(&backend));
    let error = options.connect(SERVER).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 77, known: 5 }), "{error}");
    assert_eq!(backend.sql("SELECT version FROM store_version").await, [["77"]]);
}

#[tokio::test]
async fn many_connect_to_a_new_schema_at_once() {
    let Some(backend) = postgres().await else { return };
    let opened = (0..6).map(|_| backend.store());
    assert_eq!(futures::future::join_all(opened).await.len(), 6);
    assert_eq!(backend.sql("SELECT version FROM store_version").await, [["5"]]);
}

#[tokio::test]
async fn ds_17_a_step_writes_its_rows_alone() {
    let Some(backend) = postgres().await else { return };
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.messages = (0..10_000).map(|seq| message(seq, "a message of the past")).collect();
    store.commit(&lease, &first).await.unwrap();
    let mut next = step(1);
    next.messages = vec![message(10_000, "a new one")];
    store.commit(&lease, &next).await.unwrap();
    let written = "FROM message m JOIN thread t ON t.xmin = m.xmin";
    assert_eq!(backend.sql(&format!("SELECT m.seq {written}")).await, [["10000"]]);
}

#[tokio::test]
async fn the_password_is_in_no_error_and_no_debug() {
    let refused = [
        "postgres://clerk:hunter2@127.0.0.1:1/agents",
        "postgres://clerk:hunter2@127.0.0.1:hunter2/agents",
        "postgres://clerk:hunter2@127.0.0.1:1/agents?sslmode=hunter2",
        "mysql://clerk:hunter2@127.0.0.1/agents",
        "hunter2",
        "postgres://clerk:hunter2@127.0.0.1/hunter2 no such database",
    ];
    for url in refused {
        let error = PostgresStore::connect(url).await.unwrap_err();
        let mut shown = format!("{error} {error:?}");
        let mut cause = std::error::Error::source(&error);
        while let Some(source) = cause {
            shown.push_str(&[source.to_string(), format!("{source:?}")].concat());
            cause = source.source();
        }
        assert!(!shown.contains("hunter2") && !shown.contains("clerk"), "{shown}");
    }
    if let Some(backend) = postgres().await {
        let url = SERVER.replace("root@", "root:hunter2@");
        let options = PostgresStore::options().schema(schema(&backend));
        let shown = format!("{:?}", options.connect(&url).await.unwrap());
        assert_eq!(
            shown,
            "SqlStore { place: PostgreSQL at 127.0.0.1:5432, namespace: \"default\", .. }"
        );
    }
}
