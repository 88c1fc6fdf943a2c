//! Versions of the schema: a database of version 1 goes on, a dry run writes nothing, and a store that
//! reads writes nothing.

use std::time::Duration;

use hooks_agent::store::{check, open_read_only};
use hooks_agent_core::call::RunId;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Claim, Decision, Filter, Reservation, RunFilter, RunPage, RunSums, Steps, Store, StoreError,
    Verdict, Window,
};
use hooks_agent_sql::store::{Migration, PostgresStore, SqliteStore};
use serde_json::{Map, Value, json};

use crate::backend::{Backend, Folder, SERVER, on_each, postgres, unique};
use crate::suite::errors::told;
use crate::suite::steps::{granted, key, step};

on_each! {
    a_dry_run_shows_what_is_missing_and_writes_nothing,
    a_database_of_version_1_is_migrated_and_goes_on,
    a_database_of_version_1_is_not_read_before_it_is_migrated,
    a_store_that_reads_writes_nothing,
}

/// What version 1 made: its tables, and a thread that waits for a decision.
const MADE_BY_1: &str = include_str!("made_by_1.sql");

/// What version 1 had besides, in a file and on a server.
const FILE: &str = "PRAGMA user_version = 1; PRAGMA application_id = 1752133483;";
const SERVED: &str = "CREATE TABLE store_version (version BIGINT NOT NULL);
    INSERT INTO store_version VALUES (1); ALTER TABLE thread SET (fillfactor = 50);";

async fn make_version_1(backend: &Backend) {
    match backend {
        Backend::Sqlite(folder) => {
            let path = folder.path().join("a.db");
            std::fs::write(path, "").unwrap();
            backend.sql(&format!("PRAGMA journal_mode = WAL; {MADE_BY_1} {FILE}")).await;
        }
        Backend::Postgres(schema) => {
            let quoted = schema.name().replace('"', "\"\"");
            backend.sql(&format!("CREATE SCHEMA \"{quoted}\"; {MADE_BY_1} {SERVED}")).await;
        }
    }
}

async fn version(backend: &Backend) -> String {
    let read = match backend {
        Backend::Sqlite(_) => "PRAGMA user_version",
        Backend::Postgres(_) => "SELECT version FROM store_version",
    };
    backend.sql(read).await.remove(0).remove(0)
}

async fn dry_run(backend: &Backend) -> Vec<Migration> {
    match backend {
        Backend::Sqlite(folder) => {
            SqliteStore::options().dry_run(folder.path().join("a.db")).await.unwrap()
        }
        Backend::Postgres(schema) => {
            let options = PostgresStore::options().schema(schema.name());
            options.dry_run(SERVER).await.unwrap()
        }
    }
}

async fn migrate(backend: &Backend) -> Vec<Migration> {
    match backend {
        Backend::Sqlite(folder) => {
            SqliteStore::options().migrate(folder.path().join("a.db")).await.unwrap()
        }
        Backend::Postgres(schema) => {
            let options = PostgresStore::options().schema(schema.name());
            options.migrate(SERVER).await.unwrap()
        }
    }
}

async fn read_only(backend: &Backend) -> Result<Box<dyn crate::backend::Both>, StoreError> {
    Ok(match backend {
        Backend::Sqlite(folder) => {
            Box::new(SqliteStore::read_only(folder.path().join("a.db")).await?)
        }
        Backend::Postgres(schema) => {
            let options = PostgresStore::options().schema(schema.name()).read_only();
            Box::new(options.connect(SERVER).await?)
        }
    })
}

async fn a_dry_run_shows_what_is_missing_and_writes_nothing(backend: &Backend) {
    let all = dry_run(backend).await;
    assert_eq!(all.iter().map(|migration| migration.version).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    match backend {
        Backend::Sqlite(folder) => assert!(!folder.path().join("a.db").exists()),
        Backend::Postgres(schema) => {
            assert!(all[0].sql.starts_with("CREATE SCHEMA IF NOT EXISTS"), "{}", all[0]);
            let find = "SELECT nspname FROM pg_namespace WHERE nspname = ";
            let name = schema.name().replace('\'', "''");
            assert!(backend.sql(&format!("{find}'{name}'")).await.is_empty());
        }
    }
    assert_eq!(migrate(backend).await, all);
    assert_eq!((migrate(backend).await, dry_run(backend).await), (vec![], vec![]));
    backend.store().await;
}

async fn a_database_of_version_1_is_migrated_and_goes_on(backend: &Backend) {
    make_version_1(backend).await;
    let missing = dry_run(backend).await;
    assert_eq!(missing.len(), 4);
    assert!(missing[0].to_string().starts_with("-- schema version 2\n"), "{}", missing[0]);
    assert!(missing[1].to_string().starts_with("-- schema version 3\n"), "{}", missing[1]);
    assert!(missing[2].to_string().starts_with("-- schema version 4\n"), "{}", missing[2]);
    assert!(missing[3].to_string().starts_with("-- schema version 5\n"), "{}", missing[3]);
    assert_eq!(version(backend).await, "1");

    let store = backend.store().await;
    assert_eq!(version(backend).await, "5");
    assert_eq!(dry_run(backend).await, []);
    let waiting = store.waiting(Filter::agent("clerk").thread("ada")).await.unwrap();
    assert_eq!(waiting[0].arguments, json!({ "euros": 12 }));
    let verdict = Verdict::new(waiting[0].id.clone(), Decision::Approve).by("eve");
    store.decide(vec![verdict]).await.unwrap();
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => "no result".into(),
        }
    });
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let agent =
        ReActAgent::builder("clerk").model(model).tool(pay).store(store.clone()).build().unwrap();
    let reply = agent.resume(CallOptions::new().thread("ada")).await.unwrap();
    assert_eq!(reply.text(), "paid");
    assert_eq!(store.threads(Filter::all().user("u-1")).await.unwrap().len(), 1);
    let hour = Window::Sliding(Duration::from_hours(1));
    let one = Reservation::new("calls", "u-1", 1, 1, hour).with_key("1");
    store.reserve(vec![one]).await.unwrap();
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 4);
}

async fn a_database_of_version_1_is_not_read_before_it_is_migrated(backend: &Backend) {
    make_version_1(backend).await;
    let error = read_only(backend).await.err().unwrap();
    assert!(matches!(error, StoreError::OlderSchema { found: 1, needed: 5 }), "{error:?}");
    assert_eq!(version(backend).await, "1");
    assert_eq!(migrate(backend).await.len(), 4);
    let store = read_only(backend).await.unwrap();
    assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 1);
}

async fn a_store_that_reads_writes_nothing(backend: &Backend) {
    assert!(matches!(read_only(backend).await.err().unwrap(), StoreError::Open { .. }));
    let writer = backend.store().await;
    let lease = granted(&writer, &key("ada")).await;
    writer.commit(&lease, &step(0)).await.unwrap();
    let store = read_only(backend).await.unwrap();
    assert_eq!(store.threads(Filter::all()).await.unwrap().len(), 1);
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 1);
    assert_eq!(store.load(&lease).await.unwrap().version, 1);
    assert_eq!(store.report().await.unwrap().threads, 1);

    let (bob, run, next) = (key("bob"), RunId::random(), step(1));
    let is_refused = |error: StoreError| match error {
        StoreError::ReadOnly { place } => {
            assert!(place.contains("a.db") || place.contains("127.0.0.1:5432"), "{place}");
        }
        other => panic!("{other:?}"),
    };
    is_refused(store.acquire(&bob, run, &Claim::new()).await.unwrap_err());
    is_refused(store.withdraw(&bob, run).await.unwrap_err());
    is_refused(store.commit(&lease, &next).await.unwrap_err());
    is_refused(store.renew(std::slice::from_ref(&lease)).await.unwrap_err());
    is_refused(store.release(&lease).await.unwrap_err());
    is_refused(store.decide(Vec::new()).await.unwrap_err());
    is_refused(store.expire().await.unwrap_err());
    is_refused(store.import(&bob, Vec::new(), Map::new(), None).await.unwrap_err());
    is_refused(store.forget(Filter::all()).await.unwrap_err());
    is_refused(store.prune(Filter::all()).await.unwrap_err());
    is_refused(store.reserve(Vec::new()).await.unwrap_err());
    is_refused(store.settle(Vec::new()).await.unwrap_err());
    let history = store.run_history().unwrap();
    is_refused(history.add(Vec::new()).await.unwrap_err());
    is_refused(history.prune_runs(1).await.unwrap_err());
    assert_eq!(history.list(RunFilter::all().words("a")).await.unwrap(), RunPage::default());
    assert_eq!(history.totals(RunSums::new(0, 1)).await.unwrap(), []);
    writer.commit(&lease, &next).await.unwrap();
}

#[tokio::test]
async fn a_file_is_counted_without_being_migrated() {
    let folder = Folder::new();
    let path = folder.path().join("a.db").display().to_string();
    let missing = open_read_only(&path).await.unwrap_err();
    assert!(missing.to_string().contains("there is no file"), "{missing}");
    let backend = Backend::Sqlite(folder);
    make_version_1(&backend).await;
    let error = check(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::OlderSchema { .. }), "{error:?}");
    assert_eq!(version(&backend).await, "1");
}

/// Makes a role that may use the tables and make none, with this setting. It is removed with its rights.
async fn role(backend: &Backend, setting: &str) -> String {
    let Backend::Postgres(schema) = backend else { unreachable!("roles are of the server") };
    let (role, quoted) = (format!("hooks_{}", unique()), schema.name().replace('"', "\"\""));
    backend
        .sql(&format!(
            "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA \"{quoted}\" TO {role};
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"{quoted}\" TO {role};
            {}",
            setting.replace("NAME", &role)
        ))
        .await;
    role
}

async fn connect_as(backend: &Backend, role: &str) -> Result<PostgresStore, StoreError> {
    let Backend::Postgres(schema) = backend else { unreachable!("roles are of the server") };
    let url = SERVER.replace("root@", &format!("{role}@"));
    PostgresStore::options().schema(schema.name()).connect(&url).await
}

async fn remove(backend: &Backend, role: &str) {
    backend.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
}

#[tokio::test]
async fn a_user_who_may_make_no_tables_connects_and_calls() {
    let Some(backend) = postgres().await else { return };
    drop(backend.store().await);
    let role = role(&backend, "").await;
    let store = connect_as(&backend, &role).await;
    let called = async {
        let model = ScriptedModel::new("yes", |_| "yes");
        let agent = ReActAgent::builder("clerk").model(model).store(store?).build()?;
        agent.call("hello").await
    };
    let reply = called.await;
    remove(&backend, &role).await;
    assert_eq!(reply.unwrap().text(), "yes");
}

#[tokio::test]
async fn a_user_who_may_not_migrate_reads_who_may() {
    let Some(backend) = postgres().await else { return };
    make_version_1(&backend).await;
    let role = role(&backend, "").await;
    let error = connect_as(&backend, &role).await.unwrap_err();
    remove(&backend, &role).await;
    let told = told(&error);
    assert!(told.contains("or migrate as their owner (error 42501)"), "{told}");
    assert_eq!(version(&backend).await, "1");
}

#[tokio::test]
async fn a_server_that_only_reads_is_opened_and_says_so_when_it_is_to_write() {
    let Some(backend) = postgres().await else { return };
    drop(backend.store().await);
    let role = role(&backend, "ALTER ROLE NAME SET default_transaction_read_only = on").await;
    let opened = connect_as(&backend, &role).await;
    let refused = match &opened {
        Ok(store) => store.acquire(&key("ada"), RunId::random(), &Claim::new()).await.map(|_| ()),
        Err(error) => panic!("{error:?}"),
    };
    let listed = opened.unwrap().threads(Filter::all()).await;
    remove(&backend, &role).await;
    let told = told(&refused.unwrap_err());
    assert!(told.contains("connect to the primary") && told.contains("25006"), "{told}");
    assert_eq!(listed.unwrap(), []);
}
