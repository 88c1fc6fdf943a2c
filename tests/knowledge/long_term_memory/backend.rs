//! Memories of each kind, each test with its own: in the process, in a file, in a schema on a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hooks_agent_knowledge::{
    Memories, MemoryLimits, PostgresMemories, ProcessMemories, SqliteMemories,
};
use hooks_fixtures::tell;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use tempfile::TempDir;

/// The server, where the machine has one.
pub(crate) const SERVER: &str = "postgres://root@127.0.0.1/test";

/// Where memories are kept.
pub(crate) enum Backend {
    Process(Option<ProcessMemories>),
    Sqlite(TempDir),
    Postgres(Schema),
}

/// The name of a schema that is removed at the end.
pub(crate) struct Schema(String);

impl Drop for Schema {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA IF EXISTS {} CASCADE", quoted(&self.0));
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

fn quoted(schema: &str) -> String {
    format!("\"{}\"", schema.replace('"', "\"\""))
}

impl Backend {
    pub(crate) fn process() -> Self {
        Self::Process(None)
    }

    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(TempDir::new().unwrap())
    }

    /// Returns a schema on the server, if there is one.
    pub(crate) async fn postgres() -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if let Err(error) = PgConnection::connect(SERVER).await {
            tell(format!("skipped: no PostgreSQL at 127.0.0.1: {error}"));
            return None;
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let name = format!("memories \"{process}_{}_{next}", now.subsec_nanos());
        Some(Self::Postgres(Schema(name)))
    }

    /// The address, for another process.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Process(_) => panic!("another process has no memories of this one"),
            Self::Sqlite(folder) => format!("sqlite:{}", folder.path().join("a.db").display()),
            Self::Postgres(schema) => format!("postgres:{}", schema.0),
        }
    }

    /// Opens the memories with these limits, with connections of their own.
    pub(crate) async fn limited(&mut self, limits: MemoryLimits) -> Arc<dyn Memories> {
        if let Self::Process(memories) = self {
            let new = || ProcessMemories::new().max_entries(limits.entries).max_bytes(limits.bytes);
            return Arc::new(memories.get_or_insert_with(new).clone());
        }
        open(&self.address(), limits).await
    }

    pub(crate) async fn open(&mut self) -> Arc<dyn Memories> {
        self.limited(MemoryLimits::default()).await
    }

    /// Runs statements, and returns the rows with all columns as text.
    pub(crate) async fn sql(&self, statements: &str) -> Vec<Vec<String>> {
        let mut statements = statements.to_owned();
        match self {
            Self::Process(_) => panic!("memories of the process are in no database"),
            Self::Sqlite(folder) => {
                let options = SqliteConnectOptions::new().filename(folder.path().join("a.db"));
                let mut conn = options.create_if_missing(true).connect().await.unwrap();
                let query = sqlx::raw_sql(AssertSqlSafe(statements));
                let rows = query.fetch_all(&mut conn).await.unwrap();
                let text = |row: &SqliteRow, at| row.get_unchecked::<Option<String>, _>(at);
                let texts = |row| move |at| text(row, at).unwrap_or_default();
                rows.iter().map(|row| (0..row.len()).map(texts(row)).collect()).collect()
            }
            Self::Postgres(schema) => {
                let path = quoted(&schema.0);
                statements = format!("SET search_path TO {path}; {statements}");
                let mut conn = PgConnection::connect(SERVER).await.unwrap();
                let query = sqlx::raw_sql(AssertSqlSafe(statements));
                let rows = query.fetch_all(&mut conn).await.unwrap();
                let text = |row: &PgRow, at| row.get_unchecked::<Option<String>, _>(at);
                let texts = |row| move |at| text(row, at).unwrap_or_default();
                rows.iter().map(|row| (0..row.len()).map(texts(row)).collect()).collect()
            }
        }
    }
}

/// Opens the memories of this address.
pub(crate) async fn open(address: &str, limits: MemoryLimits) -> Arc<dyn Memories> {
    match address.split_once(':') {
        Some(("sqlite", path)) => {
            let memories = SqliteMemories::open(path).await.unwrap();
            Arc::new(memories.max_entries(limits.entries).max_bytes(limits.bytes))
        }
        Some(("postgres", schema)) => {
            let options = PostgresMemories::options().schema(schema).connections(3);
            let memories = options.connect(SERVER).await.unwrap();
            Arc::new(memories.max_entries(limits.entries).max_bytes(limits.bytes))
        }
        _ => panic!("no memories have the address {address}"),
    }
}

/// Declares tests that run on each kind of memories.
macro_rules! on_each {
    ($($name:ident),+ $(,)?) => {
        mod process {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::long_term_memory::backend::Backend::process()).await;
            })+
        }

        crate::long_term_memory::backend::on_databases!($($name),+);
    };
}

/// Declares tests that run on each database.
macro_rules! on_databases {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::long_term_memory::backend::Backend::sqlite()).await;
            })+
        }

        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                if let Some(backend) = crate::long_term_memory::backend::Backend::postgres().await {
                    super::$name(backend).await;
                }
            })+
        }
    };
}

pub(crate) use {on_databases, on_each};
