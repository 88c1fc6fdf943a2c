//! Memories in a PostgreSQL database.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_sql::database::postgres::{LONGEST_SCHEMA, Session, address, search_path};
use hooks_agent_sql::database::{DatabaseError, Limit, Place, Pool, PoolOptions, Statement};
use sha2::{Digest, Sha256};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Error, Executor, Postgres};

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::sql::LATEST;
use crate::long_term_memory::sql::options::PostgresMemoriesOptions;
use crate::long_term_memory::sql::sql_memories::{Connections, SqlMemories};
use crate::long_term_memory::sql::statements::{Statements, statements};

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an operation may take.
const OPERATION: Duration = Duration::from_secs(30);

/// How long a connection is silent before it is tested.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The advisory lock of those who open memories: "memory" in ASCII.
const LOCK: i64 = 0x6d65_6d6f_7279;

const SCHEMA: &str = include_str!("postgres_1.sql");

/// Memories in a PostgreSQL database, for many workers. Requires feature `postgres`.
///
/// Its tables have names of their own that begin with `memory_`; tables of a
/// [store](hooks_agent_sql::store::PostgresStore) are never touched. An operation that has no
/// answer within 30 seconds fails. A clone shares the connections.
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::builtin::knowledge::MemoriesError> {
/// use hooks_agent::builtin::knowledge::{Memories, PostgresMemories};
///
/// let memories = PostgresMemories::connect("postgres://clerk@db.example.com/agents").await?;
/// memories.forget_all("ada").await?;
/// # Ok(())
/// # }
/// ```
pub type PostgresMemories = SqlMemories<Postgres>;

impl SqlMemories<Postgres> {
    /// Connects to the database of this URL, with the default options, and creates the tables if there
    /// are none.
    ///
    /// # Errors
    /// [`MemoriesError::Open`] if the URL cannot be read, the user is refused or there is no such
    /// database; [`MemoriesError::Unavailable`] if the server cannot be reached;
    /// [`MemoriesError::NewerSchema`] if a newer program made the tables: they are left as they are.
    pub async fn connect(url: &str) -> Result<Self, MemoriesError> {
        Self::options().connect(url).await
    }

    /// Returns the options, to change them and connect.
    pub fn options() -> PostgresMemoriesOptions {
        PostgresMemoriesOptions::new()
    }
}

impl Statements for Postgres {
    statements!("unnest($3::text[]) AS words (value)", "word = ANY($2::text[])");

    /// Two users that have the same lock wait for each other.
    fn lock(user: &str) -> Option<Statement<'static>> {
        let digest: [u8; 32] = Sha256::digest(user).into();
        let number = digest.first_chunk().map_or(0, |start| i64::from_be_bytes(*start));
        Some(Statement::new("SELECT pg_advisory_xact_lock($1)").bind(number))
    }
}

/// Creates the tables if there are none, and returns the connections.
pub(super) async fn open(
    url: &str,
    options: &PostgresMemoriesOptions,
) -> Result<Connections<Postgres>, MemoriesError> {
    let (connect, place) = address(url)?;
    let path = options.schema.as_deref().map(quoted).transpose()?;
    let limit = Limit::new(CONNECT);
    let connected = limit.run(async { Ok(connect.connect().await?) }).await;
    let mut conn = connected.map_err(|error| place.opening(error))?;
    let search_path = create(&mut conn, &place, path).await?;
    conn.close().await.map_err(|error| place.opening(error.into()))?;
    let session = Session {
        options: connect,
        search_path,
        connect: limit,
        statement: Limit::new(OPERATION),
        keep_alive: KEEP_ALIVE,
        is_read_only: false,
    };
    let pool = PoolOptions {
        size: options.connections,
        wait: OPERATION,
        trusted: KEEP_ALIVE,
        test: limit,
    };
    let pool = Arc::new(Pool::new(place, pool, move || {
        let session = session.clone();
        Box::pin(async move { session.begin().await })
    }));
    Ok(Connections { reader: pool.clone(), writer: pool, limit: Limit::new(OPERATION) })
}

/// Creates what is missing in one transaction, and returns the search path. Only one process does; the
/// others wait.
async fn create(
    conn: &mut PgConnection,
    place: &Place,
    path: Option<String>,
) -> Result<String, MemoriesError> {
    let failed = |error: Error| place.opening(error.into());
    let mut step = conn.begin().await.map_err(failed)?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
    lock.execute(&mut *step).await.map_err(failed)?;
    if let Some(path) = path {
        // The name is quoted as an identifier.
        let create = AssertSqlSafe(format!("CREATE SCHEMA IF NOT EXISTS {path}"));
        step.execute(sqlx::raw_sql(create)).await.map_err(failed)?;
        let set = sqlx::query("SELECT set_config('search_path', $1, false)").bind(path);
        set.execute(&mut *step).await.map_err(failed)?;
    }
    let current: Option<String> = sqlx::query_scalar("SELECT CAST(current_schema() AS TEXT)")
        .fetch_one(&mut *step)
        .await
        .map_err(failed)?;
    let Some(current) = current else {
        return Err(place.refused("the search path of the user has no schema: name one").into());
    };
    let found = version(&mut step).await.map_err(failed)?;
    if found > LATEST {
        return Err(MemoriesError::NewerSchema { found, known: LATEST });
    }
    if found < LATEST {
        step.execute(sqlx::raw_sql(SCHEMA)).await.map_err(failed)?;
    }
    step.commit().await.map_err(failed)?;
    Ok(search_path(&current))
}

/// Returns the version of the tables; 0 if there are none.
async fn version(conn: &mut PgConnection) -> Result<i64, Error> {
    let find = "SELECT to_regclass(quote_ident(current_schema()) || '.memory_version') IS NOT NULL";
    let is_there: bool = sqlx::query_scalar(find).fetch_one(&mut *conn).await?;
    if !is_there {
        return Ok(0);
    }
    sqlx::query_scalar("SELECT version FROM memory_version").fetch_one(conn).await
}

/// Returns the search path that has this schema alone.
fn quoted(schema: &str) -> Result<String, DatabaseError> {
    if schema.is_empty() || schema.len() > LONGEST_SCHEMA || schema.contains('\0') {
        let reason = "the name of the schema has not 1 to 63 bytes without NUL";
        return Err(DatabaseError::refused(reason));
    }
    Ok(search_path(schema))
}
