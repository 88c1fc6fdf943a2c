//! Errors for operators: the place, the cause and the cure, and no content.

use std::error::Error;
use std::time::Duration;

use hooks_agent_core::store::{Filter, Store, StoreError};
use hooks_agent_sql::store::{PostgresStore, SqliteStore};
use hooks_fixtures::Reports;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tracing::Level;

use crate::backend::{Backend, Folder, SERVER, postgres};
use crate::suite::steps::{granted, key, step};

/// Returns the text of an error with its causes.
pub(crate) fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(" <- ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}

fn schema(backend: &Backend) -> &str {
    match backend {
        Backend::Postgres(schema) => schema.name(),
        Backend::Sqlite(_) => unreachable!("these tests are of the server"),
    }
}

#[tokio::test]
async fn a_url_that_is_none_is_refused_with_how_to_write_it() {
    for url in ["nonsense", "postgres:ada@host", "postgres://u:p@127.0.0.1:x/agents", "://"] {
        let error = PostgresStore::connect(url).await.unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
        let told = told(&error);
        assert!(told.contains("write `postgres://USER@HOST:5432/DATABASE`"), "{told}");
    }
    let error = PostgresStore::connect("mysql://ada:secret@host/agents").await.unwrap_err();
    let expected = "the store cannot be opened: the URL has the scheme `mysql`, not `postgres`";
    assert_eq!(told(&error), expected);
}

#[tokio::test]
async fn a_password_that_ends_the_host_is_never_quoted() {
    let urls = [
        "postgres://ada:12#34@127.0.0.1:1/agents",
        "postgres://ada:12/34@127.0.0.1:1/agents",
        "postgres://ada:12?34@127.0.0.1:1/agents",
    ];
    for url in urls {
        let told = told(&PostgresStore::connect(url).await.unwrap_err());
        assert!(told.contains("of a password as `%40`"), "{told}");
        assert!(!told.contains("12") && !told.contains("34") && !told.contains("ada"), "{told}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named() {
    let error = PostgresStore::connect("postgres://ada:secret@127.0.0.1:1/agents").await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)) && error.is_transient(), "{error:?}");
    let expected = "the store is not available <- PostgreSQL at 127.0.0.1:1: the connection is \
                    refused: is the server running, and the port right?";
    assert_eq!(told(&error), expected);
    let options = PostgresStore::options().connect_timeout(Duration::from_secs(2));
    let error = options.connect("postgres://ada:secret@no-such.invalid/agents").await;
    let told = told(&error.unwrap_err());
    assert!(told.contains("PostgreSQL at no-such.invalid:5432"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}

#[tokio::test]
async fn what_a_server_refuses_has_its_cause_and_its_cure() {
    let named = PostgresStore::options().schema("s".repeat(64)).connect(SERVER).await;
    let expected = "the store cannot be opened: the name of the schema has more than 63 bytes";
    assert_eq!(told(&named.unwrap_err()), expected);
    let Some(backend) = postgres().await else { return };
    let cannot = "the store cannot be opened: PostgreSQL at 127.0.0.1:5432:";
    let url = SERVER.replace("/test", "/no_such_database");
    let error = PostgresStore::connect(&url).await.unwrap_err();
    let expected = format!("{cannot} there is no such database: create it first (error 3D000)");
    assert_eq!(told(&error), expected);
    let quoted = schema(&backend).replace('"', "\"\"");
    let foreign = format!("CREATE SCHEMA \"{quoted}\"; CREATE TABLE \"{quoted}\".thread (id INT)");
    backend.sql(&foreign).await;
    let error = PostgresStore::options().schema(schema(&backend)).connect(SERVER).await;
    let expected = format!(
        "{cannot} the schema has a table of another program: name another one (error 42P07)"
    );
    assert_eq!(told(&error.unwrap_err()), expected);
}

#[tokio::test]
async fn a_table_that_is_gone_is_said() {
    let Some(backend) = postgres().await else { return };
    let store = backend.store().await;
    store.threads(Filter::all()).await.unwrap();
    backend.sql("DROP TABLE value").await;
    let error = store.values(&key("ada")).await.unwrap_err();
    let told = told(&error);
    assert!(
        told.starts_with("the store failed <- PostgreSQL at 127.0.0.1:5432: a table"),
        "{told}"
    );
    assert!(told.ends_with("(error 42P01)"), "{told}");
}

#[tokio::test]
async fn a_full_disk_of_a_server_is_no_space() {
    let Some(backend) = postgres().await else { return };
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let full = "CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER no_space BEFORE INSERT ON message EXECUTE FUNCTION no_space()";
    backend.sql(full).await;
    let error = store.commit(&lease, &step(0)).await.unwrap_err();
    assert!(matches!(error, StoreError::Full(_)) && !error.is_transient(), "{error:?}");
    let expected = "the store has no space left <- PostgreSQL at 127.0.0.1:5432: the disk of the \
                    server is full: make space (error 53100)";
    assert_eq!(told(&error), expected);
    backend.sql("DROP TRIGGER no_space ON message").await;
    store.commit(&lease, &step(0)).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_locked_says_by_whom_and_where() {
    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let options = SqliteStore::options().busy_timeout(Duration::from_millis(20));
    let store: crate::backend::Shared =
        std::sync::Arc::new(options.clone().open(&path).await.unwrap());
    let lease = granted(&store, &key("ada")).await;
    let mut other = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let error = store.commit(&lease, &step(0)).await.unwrap_err();
    let place = format!("`{}`", path.display());
    let expected = format!(
        "the store is not available <- writing a step: {place}: it is locked: another process writes to it for \
         longer than `busy_timeout`, or holds it alone (error 5)"
    );
    assert_eq!(told(&error), expected);
    writing.rollback().await.unwrap();
    store.commit(&lease, &step(0)).await.unwrap();
}

#[tokio::test]
async fn a_file_without_its_tables_says_so() {
    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let mut other = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    sqlx::raw_sql("DROP TABLE value").execute(&mut other).await.unwrap();
    let told = told(&store.values(&key("ada")).await.unwrap_err());
    let expected = format!("the store failed <- `{}`: a statement does not fit", path.display());
    assert!(told.starts_with(&expected) && told.ends_with("(error 1)"), "{told}");
}

/// Fails at a trigger whose text is content, and returns what a log of this level has.
async fn log_of(level: Level) -> String {
    let (subscriber, records) = Reports::up_to(level);
    let _guard = tracing::subscriber::set_default(subscriber);
    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let store: crate::backend::Shared =
        std::sync::Arc::new(SqliteStore::open(&path).await.unwrap());
    let lease = granted(&store, &key("ada")).await;
    let mut other = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let trigger =
        "CREATE TRIGGER t BEFORE INSERT ON value BEGIN SELECT RAISE(ABORT, 'hunter2'); END";
    sqlx::raw_sql(trigger).execute(&mut other).await.unwrap();
    store.commit(&lease, &step(0)).await.unwrap();
    let mut valued = step(1);
    valued.values = vec![("a".into(), Some(1.into()))];
    let told = told(&store.commit(&lease, &valued).await.unwrap_err());
    assert!(!told.contains("hunter2"), "{told}");
    records.take().join("\n")
}

#[tokio::test]
async fn the_text_of_the_database_is_in_a_log_that_is_turned_on() {
    let quiet = log_of(Level::DEBUG).await;
    assert!(!quiet.contains("hunter2"), "{quiet}");
    let log = log_of(Level::TRACE).await;
    assert!(log.contains("hunter2") && log.contains("a.db"), "{log}");
}
