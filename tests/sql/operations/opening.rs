//! Stores are opened by their URL.

use hooks_agent::store;
use hooks_agent_core::store::{Store, StoreError, ThreadKey};
use hooks_agent_sql::store::{PostgresStore, SqliteStore};
use serde_json::{Map, json};

use crate::backend::{Folder, SERVER, Schema, postgres, unique};

#[tokio::test]
async fn a_path_and_a_url_are_the_same_file() {
    let folder = Folder::new();
    let path = folder.path().join("agents.db").display().to_string();
    let key = ThreadKey::new("clerk", "ada").unwrap();
    let values = Map::from_iter([("count".to_owned(), json!(3))]);
    let first = store::open(&path).await.unwrap();
    first.import(&key, Vec::new(), values.clone(), None).await.unwrap();
    for url in [format!("sqlite:{path}"), format!("sqlite://{path}")] {
        let again = store::open(&url).await.unwrap();
        assert_eq!(again.values(&key).await.unwrap(), values, "{url}");
    }
    let report = store::check(&path).await.unwrap();
    assert_eq!((report.threads, report.values, report.schema), (1, 1, Some(5)));
}

#[tokio::test]
async fn a_server_is_opened_by_its_url() {
    if postgres().await.is_none() {
        return;
    }
    let schema = Schema::new(format!("hooks_open_{}", unique()));
    let options = PostgresStore::options().schema(schema.name());
    let key = ThreadKey::new("clerk", "ada").unwrap();
    let store = options.connect(SERVER).await.unwrap();
    store.import(&key, Vec::new(), Map::new(), None).await.unwrap();
    let url = format!("{SERVER}?options=-csearch_path%3D{}", schema.name());
    let report = store::check(&url).await.unwrap();
    assert_eq!((report.threads, report.schema), (1, Some(5)));
}

#[tokio::test]
async fn a_check_creates_no_file() {
    let folder = Folder::new();
    let path = folder.path().join("agents.db");
    let error = store::check(&path.display().to_string()).await.unwrap_err();
    assert!(error.to_string().contains("there is no file"), "{error}");
    assert!(!path.exists());
}

#[tokio::test]
async fn urls_of_other_databases_are_refused_without_their_password() {
    let urls = [
        "mysql://ada:secret@host/agents",
        "postgres:ada:secret@host/agents",
        "postgres:ada:secret@host/agents?x=a://b",
        "sqlite::memory:",
    ];
    for url in urls {
        let error = store::open(url).await.unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_url_is_no_path_of_a_file() {
    for (url, says) in [
        ("sqlite::memory:", "`MemoryStore`"),
        (":memory:", "`MemoryStore`"),
        ("sqlite:agents.db", "`store::open` takes URLs"),
        ("sqlite://agents.db", "`store::open` takes URLs"),
        ("postgres://ada:secret@host/agents", "`store::open` takes URLs"),
    ] {
        let opened = SqliteStore::open(url).await.err();
        let read = SqliteStore::read_only(url).await.err();
        for error in [opened, read] {
            let error = error.unwrap().to_string();
            assert!(error.contains(says) && !error.contains("secret"), "{url}: {error}");
        }
    }
}
