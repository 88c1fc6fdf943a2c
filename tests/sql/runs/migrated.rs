//! A store of the version before runs were kept goes on with what it has, and keeps them.

use hooks_agent_core::store::{Filter, RunFilter, StoreError};
use hooks_agent_sql::store::{Migration, PostgresStore, SqliteStore};

use crate::backend::{Backend, SERVER, on_each};
use crate::runs::{NOON, listed, run, runs};
use crate::suite::steps::key;

on_each! { a_database_of_version_4_keeps_what_it_has_and_keeps_runs }

/// What a program of version 4 left.
const LEFT: &str = "
INSERT INTO thread (id, namespace, agent, thread, version, next_seq, created, changed)
VALUES (7, 'default', 'clerk', 'ada', 1, 1, 5, 5);
INSERT INTO message (thread_id, seq, place, body) VALUES (7, 0, 0, '{}');
INSERT INTO quota_use (namespace, quota, subject, key, amount, at, expires)
VALUES ('default', 'calls', 'u-1', '1', 3, 5, 6);";

async fn dry_run(backend: &Backend) -> Vec<Migration> {
    match backend {
        Backend::Sqlite(folder) => SqliteStore::options().dry_run(folder.path().join("a.db")).await,
        Backend::Postgres(schema) => {
            PostgresStore::options().schema(schema.name()).dry_run(SERVER).await
        }
    }
    .unwrap()
}

async fn read_only(backend: &Backend) -> Result<(), StoreError> {
    match backend {
        Backend::Sqlite(folder) => {
            SqliteStore::read_only(folder.path().join("a.db")).await.map(drop)
        }
        Backend::Postgres(schema) => {
            let options = PostgresStore::options().schema(schema.name()).read_only();
            options.connect(SERVER).await.map(drop)
        }
    }
}

async fn a_database_of_version_4_keeps_what_it_has_and_keeps_runs(backend: &Backend) {
    let made = dry_run(backend).await.into_iter().filter(|migration| migration.version <= 4);
    let made: String = made.map(|migration| migration.sql).collect();
    if let Backend::Sqlite(folder) = backend {
        std::fs::write(folder.path().join("a.db"), "").unwrap();
    }
    backend.sql(&format!("{made}{LEFT}")).await;
    let missing = dry_run(backend).await;
    assert_eq!(missing.iter().map(|migration| migration.version).collect::<Vec<_>>(), [5]);
    let refused = read_only(backend).await.unwrap_err();
    assert!(matches!(refused, StoreError::OlderSchema { found: 4, needed: 5 }), "{refused}");

    let store = backend.store().await;
    read_only(backend).await.unwrap();
    assert_eq!(store.threads(Filter::all()).await.unwrap().len(), 1);
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 1);
    let sums = "SELECT CAST(sum(amount) AS BIGINT) FROM quota_sum WHERE level = 10";
    assert_eq!(backend.sql(sums).await, [["3"]]);
    runs(&store).add(vec![run("one", NOON)]).await.unwrap();
    assert_eq!(listed(&store, RunFilter::all()).await, ["one"]);
    let report = store.report().await.unwrap();
    assert_eq!((report.schema, report.threads, report.runs), (Some(5), 1, Some(1)));
    assert_eq!(store.forget(Filter::agent("clerk").thread("ada")).await.unwrap(), 1);
    assert_eq!(listed(&store, RunFilter::all()).await, [""; 0]);
}
