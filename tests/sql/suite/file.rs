//! Tests of stores in a file alone.

use std::fs;
use std::path::Path;

use hooks_agent_core::store::{Claim, Filter, Steps, StoreError};
use hooks_agent_sql::store::SqliteStore;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::backend::{Folder, unique};
use crate::suite::steps::{key, step};

async fn refusal(path: impl AsRef<Path> + Send) -> String {
    match SqliteStore::open(path).await {
        Err(error @ StoreError::Open { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn plain(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    options.connect().await.unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let store = SqliteStore::open(&path).await.unwrap();
    store
        .acquire(&key("ada"), hooks_agent_core::call::RunId::random(), &Claim::new())
        .await
        .unwrap();
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 3, "the log and its index: {files:?}");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.path());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn wider_rights_of_a_file_are_left_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let path = folder.path().join("a.db");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    SqliteStore::open(&path).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[tokio::test]
async fn what_cannot_be_opened_is_said_in_one_sentence() {
    let folder = Folder::new();
    let shown = folder.path().display();
    let cannot = "the store cannot be opened:";
    assert_eq!(
        refusal(folder.path()).await,
        format!("{cannot} `{shown}` is a folder: name a file in it")
    );
    assert_eq!(
        refusal(folder.path().join("no/a.db")).await,
        format!("{cannot} the folder `{shown}/no` does not exist: create it first")
    );
    let text = folder.path().join("a.txt");
    fs::write(&text, "this is a text, longer than the header of a database, ".repeat(40)).unwrap();
    let expected = format!("{cannot} `{shown}/a.txt`: it is not a database (error 26)");
    assert_eq!(refusal(&text).await, expected);
    let expected = format!("{cannot} `{shown}/a.txt` is no folder");
    assert_eq!(refusal(text.join("a.db")).await, expected);
    assert_eq!(refusal("").await, format!("{cannot} the path is empty: name a file"));
}

#[tokio::test]
async fn what_is_read_only_is_said_in_one_sentence() {
    let folder = Folder::new();
    let shown = folder.path().display().to_string();
    let path = folder.path().join("a.db");
    drop(SqliteStore::open(&path).await.unwrap());
    let set = |path: &Path, is_readonly| {
        let mut rights = fs::metadata(path).unwrap().permissions();
        rights.set_readonly(is_readonly);
        fs::set_permissions(path, rights).unwrap();
    };
    set(&path, true);
    let expected =
        format!("the store cannot be opened: `{shown}/a.db` is read-only: allow to write it");
    assert_eq!(refusal(&path).await, expected);
    set(&path, false);
    set(folder.path(), true);
    let refused = refusal(folder.path().join("b.db")).await;
    set(folder.path(), false);
    let expected =
        format!("the store cannot be opened: the folder `{shown}` is read-only: allow to write it");
    assert_eq!(refused, expected);
}

#[tokio::test]
async fn a_database_of_another_program_is_left_as_it_is() {
    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let mut conn = plain(&path).await;
    sqlx::query("CREATE TABLE thread (id INTEGER)").execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    let before = fs::read(&path).unwrap();
    let refused = refusal(&path).await;
    assert!(refused.ends_with("is a database of another program"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn ds_15_a_newer_schema_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    for mode in ["WAL", "DELETE"] {
        let [made, path] =
            ["made", "newer"].map(|it| folder.path().join(format!("{mode}-{it}.db")));
        drop(SqliteStore::open(&made).await.unwrap());
        // Of a copy, because a store that is dropped may still hold its file for a moment.
        let copy = sqlx::AssertSqlSafe(format!("VACUUM INTO '{}'", path.display()));
        sqlx::raw_sql(copy).execute(&mut plain(&made).await).await.unwrap();
        let mut conn = plain(&path).await;
        for pragma in [format!("journal_mode = {mode}"), "user_version = 77".to_owned()] {
            let pragma = sqlx::AssertSqlSafe(format!("PRAGMA {pragma}"));
            sqlx::raw_sql(pragma).execute(&mut conn).await.unwrap();
        }
        conn.close().await.unwrap();
        let before = fs::read(&path).unwrap();
        let error = SqliteStore::open(&path).await.unwrap_err();
        assert!(matches!(error, StoreError::NewerSchema { found: 77, known: 5 }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before, "{mode}");
    }
}

#[tokio::test]
async fn many_open_a_new_file_at_once() {
    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let opened = (0..8).map(|_| {
        let path = path.clone();
        tokio::spawn(async move { SqliteStore::open(path).await.map(drop) })
    });
    for result in futures::future::join_all(opened).await {
        result.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_path_is_never_a_url_nor_a_place_in_memory() {
    let folder = Folder::new();
    for name in [":memory:", "file:a.db?mode=memory", "a%20b?mode=ro", "ü 🦀.db"] {
        let path = folder.path().join(name);
        drop(SqliteStore::open(&path).await.unwrap());
        assert!(path.is_file(), "{name}");
    }
    let relative = format!("target-{}.db", unique());
    drop(SqliteStore::open(&relative).await.unwrap());
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{relative}{end}"));
    }
}

#[tokio::test]
async fn a_handle_shows_its_file_and_namespace_alone() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path().join("a.db")).await.unwrap();
    assert!(store.namespace("a\0b").is_err() && store.namespace("").is_err());
    let shown = format!("{:?}", store.namespace("tenant").unwrap());
    let path = folder.path().join("a.db").display().to_string();
    let expected = format!("SqlStore {{ place: `{path}`, namespace: \"tenant\", .. }}");
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn errors_name_no_content() {
    let folder = Folder::new();
    let path = folder.path().join("a.db");
    let store: crate::backend::Shared =
        std::sync::Arc::new(SqliteStore::open(&path).await.unwrap());
    let lease = crate::suite::steps::granted(&store, &key("ada")).await;
    let mut conn = plain(&path).await;
    let trigger =
        "CREATE TRIGGER t BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'hunter2'); END";
    sqlx::raw_sql(trigger).execute(&mut conn).await.unwrap();
    let mut secret = step(0);
    secret.state = serde_json::json!("hunter2");
    let error = store.commit(&lease, &secret).await.unwrap_err();
    assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
    assert_eq!(store.threads(Filter::all()).await.unwrap()[0].version, 0);
}
