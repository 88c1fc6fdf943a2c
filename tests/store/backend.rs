//! Real databases for tests: a file in a folder, a schema on a server. Both are removed at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hooks_agent::store::{Lease, SqliteStore, Store, Synchronous};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Row};

/// A store as an agent has it.
pub type Shared = Arc<dyn Store>;

/// A folder that is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let name = format!("hooks-store-{}", unique());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A database.
pub enum Backend {
    Sqlite(Folder),
}

/// Returns a file for a store.
pub fn sqlite() -> Backend {
    Backend::Sqlite(Folder::new())
}

impl Backend {
    /// Opens a store with connections of its own, as another process has.
    pub async fn store(&self) -> Shared {
        self.leased("default", Duration::from_secs(30)).await
    }

    /// Opens a store of this namespace with leases of this time.
    pub async fn leased(&self, namespace: &str, time: Duration) -> Shared {
        match self {
            Self::Sqlite(folder) => {
                let options = SqliteStore::options().synchronous(Synchronous::Off).lease_time(time);
                let store = options.open(folder.path().join("a.db")).await.unwrap();
                Arc::new(store.namespace(namespace).unwrap())
            }
        }
    }

    /// Runs a statement, and returns the rows with all columns as text.
    pub async fn sql(&self, statement: &str) -> Vec<Vec<String>> {
        let statement = AssertSqlSafe(statement.to_owned());
        match self {
            Self::Sqlite(folder) => {
                let options = SqliteConnectOptions::new().filename(folder.path().join("a.db"));
                let mut conn = options.connect().await.unwrap();
                let rows = sqlx::query(statement).fetch_all(&mut conn).await.unwrap();
                let text = |row: &sqlx::sqlite::SqliteRow, index| {
                    row.get_unchecked::<Option<String>, _>(index).unwrap_or_default()
                };
                rows.iter().map(|row| (0..row.len()).map(|at| text(row, at)).collect()).collect()
            }
        }
    }

    /// Returns how the database reads a thread.
    pub async fn plan_of_load(&self, lease: &Lease) -> String {
        let values =
            |load: &str| load.replace("$1", &lease.row.to_string()).replace("$2", "'default'");
        let explain = match self {
            Self::Sqlite(_) => format!("EXPLAIN QUERY PLAN {}", values(SqliteStore::LOAD)),
        };
        self.sql(&explain).await.into_iter().map(|row| row.join(" ") + "\n").collect()
    }

    /// Returns the length of the log of a file.
    pub fn log_length(&self) -> u64 {
        let Self::Sqlite(folder) = self;
        std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len()
    }
}

/// Returns a name that no other test has.
pub fn unique() -> String {
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
    };
}

pub(crate) use on_each;
