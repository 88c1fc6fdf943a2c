//! Real databases for tests: a file in a folder, a schema on a server. Both are removed at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::store::{Lease, Steps, Store};
use hooks_agent_sql::store::{PostgresStore, SqliteStore, Synchronous};
use hooks_fixtures::tell;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

/// The server, where the machine has one.
pub(crate) const SERVER: &str = "postgres://root@127.0.0.1/test";

/// A store as an agent has it.
pub(crate) type Shared = Arc<dyn Both>;

/// A store in a database.
pub(crate) trait Both: Store + Steps {}

impl<S: Store + Steps> Both for S {}

/// A folder that is removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("hooks-store-{}", unique());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The name of a schema that is removed at the end.
pub(crate) struct Schema(String);

impl Schema {
    pub(crate) fn new(name: String) -> Self {
        Self(name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let schema = self.0.replace('"', "\"\"");
        let drop = format!("DROP SCHEMA IF EXISTS \"{schema}\" CASCADE");
        // The runtime of the test may be the thread that drops it.
        let removal = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let mut conn = PgConnection::connect(SERVER).await.unwrap();
                sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut conn).await.unwrap();
            });
        });
        let _ = removal.join();
    }
}

/// A database.
pub(crate) enum Backend {
    Sqlite(Folder),
    Postgres(Schema),
}

/// Returns a file for a store.
pub(crate) fn sqlite() -> Backend {
    Backend::Sqlite(Folder::new())
}

/// Returns a schema for a store, if there is a server.
pub(crate) async fn postgres() -> Option<Backend> {
    match PgConnection::connect(SERVER).await {
        Ok(_) => Some(Backend::Postgres(Schema(format!("hooks \"{}", unique())))),
        Err(error) => {
            tell(format!("skipped: no PostgreSQL at 127.0.0.1: {error}"));
            None
        }
    }
}

impl Backend {
    /// Opens a store with connections of its own, as another process has.
    pub(crate) async fn store(&self) -> Shared {
        self.leased("default", Duration::from_secs(30)).await
    }

    /// Opens a store of this namespace with leases of this time.
    pub(crate) async fn leased(&self, namespace: &str, time: Duration) -> Shared {
        match self {
            Self::Sqlite(folder) => {
                let options = SqliteStore::options().synchronous(Synchronous::Off).lease_time(time);
                let store = options.open(folder.path().join("a.db")).await.unwrap();
                Arc::new(store.namespace(namespace).unwrap())
            }
            Self::Postgres(schema) => {
                let options = PostgresStore::options().schema(schema.name()).connections(4);
                let store = options.lease_time(time).connect(SERVER).await.unwrap();
                Arc::new(store.namespace(namespace).unwrap())
            }
        }
    }

    /// Runs statements, and returns the rows with all columns as text.
    pub(crate) async fn sql(&self, statements: &str) -> Vec<Vec<String>> {
        let mut statements = statements.to_owned();
        match self {
            Self::Sqlite(folder) => {
                let options = SqliteConnectOptions::new().filename(folder.path().join("a.db"));
                let mut conn = options.connect().await.unwrap();
                let query = sqlx::raw_sql(AssertSqlSafe(statements));
                let rows = query.fetch_all(&mut conn).await.unwrap();
                let text = |row: &SqliteRow, at| row.get_unchecked::<Option<String>, _>(at);
                let texts = |row| move |at| text(row, at).unwrap_or_default();
                rows.iter().map(|row| (0..row.len()).map(texts(row)).collect()).collect()
            }
            Self::Postgres(schema) => {
                let schema = schema.name().replace('"', "\"\"");
                statements = format!("SET search_path TO \"{schema}\"; {statements}");
                let mut conn = PgConnection::connect(SERVER).await.unwrap();
                let query = sqlx::raw_sql(AssertSqlSafe(statements));
                let rows = query.fetch_all(&mut conn).await.unwrap();
                let text = |row: &PgRow, at| row.get_unchecked::<Option<String>, _>(at);
                let texts = |row| move |at| text(row, at).unwrap_or_default();
                rows.iter().map(|row| (0..row.len()).map(texts(row)).collect()).collect()
            }
        }
    }

    /// Returns how the database reads a thread.
    pub(crate) async fn plan_of_load(&self, lease: &Lease) -> String {
        let (explain, load) = match self {
            Self::Sqlite(_) => ("EXPLAIN QUERY PLAN", SqliteStore::LOAD),
            Self::Postgres(_) => ("EXPLAIN", PostgresStore::LOAD),
        };
        let load = load.replace("$1", &lease.row.to_string()).replace("$2", "'default'");
        let plan = self.sql(&format!("{explain} {load}")).await;
        plan.into_iter().map(|row| row.join(" ") + "\n").collect()
    }

    /// Returns the length of the log of a file.
    pub(crate) fn log_length(&self) -> u64 {
        match self {
            Self::Sqlite(folder) => {
                std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len()
            }
            Self::Postgres(_) => 0,
        }
    }
}

/// Returns a name that no other test has.
pub(crate) fn unique() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}_{}_{next}", std::process::id(), now.subsec_nanos())
}

/// Declares tests that run on each database.
macro_rules! on_each {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(&crate::backend::sqlite()).await;
            })+
        }

        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                if let Some(backend) = crate::backend::postgres().await {
                    super::$name(&backend).await;
                }
            })+
        }
    };
}

pub(crate) use on_each;
