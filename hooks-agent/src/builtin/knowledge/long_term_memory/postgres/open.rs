//! Opens a database.

use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Error, Executor};

use crate::builtin::knowledge::long_term_memory::error::MemoriesError;
use crate::builtin::knowledge::long_term_memory::postgres::options::PostgresMemoriesOptions;
use crate::builtin::knowledge::long_term_memory::sql::{LATEST, describe, memories_error};

/// The advisory lock of those who open memories: "memory" in ASCII.
const LOCK: i64 = 0x6d65_6d6f_7279;

/// The length of the longest name of a schema, in bytes: PostgreSQL cuts longer ones.
const LONGEST_SCHEMA: usize = 63;

const SCHEMA: &str = include_str!("schema_1.sql");

/// Creates the tables if there are none, and returns the connections.
pub(super) async fn open(
    url: &str,
    options: &PostgresMemoriesOptions,
) -> Result<PgPool, MemoriesError> {
    // The error of the URL quotes parts of it.
    let connect = PgConnectOptions::from_str(url)
        .map_err(|_| refused("the URL of the database cannot be read"))?
        .disable_statement_logging();
    let path = options.schema.as_deref().map(quoted).transpose()?;
    let mut conn = connect.connect().await.map_err(|error| opening(&error))?;
    let schema = create(&mut conn, path).await?;
    conn.close().await.map_err(|error| opening(&error))?;
    let pool = PgPoolOptions::new().max_connections(options.connections.max(1));
    let pool = pool.after_connect(move |conn, _| {
        let schema = schema.clone();
        Box::pin(async move { set_search_path(conn, &schema).await })
    });
    Ok(pool.connect_lazy_with(connect))
}

/// Creates what is missing in one transaction, and returns the search path. Only one process does; the
/// others wait.
async fn create(conn: &mut PgConnection, path: Option<String>) -> Result<String, MemoriesError> {
    let failed = |error| opening(&error);
    let mut step = conn.begin().await.map_err(failed)?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
    lock.execute(&mut *step).await.map_err(failed)?;
    if let Some(path) = &path {
        // The name is quoted as an identifier.
        let create = AssertSqlSafe(format!("CREATE SCHEMA IF NOT EXISTS {path}"));
        step.execute(sqlx::raw_sql(create)).await.map_err(failed)?;
        set_search_path(&mut step, path).await.map_err(failed)?;
    }
    let current: Option<String> = sqlx::query_scalar("SELECT CAST(current_schema() AS TEXT)")
        .fetch_one(&mut *step)
        .await
        .map_err(failed)?;
    let Some(current) = current else {
        return Err(refused("the search path of the user has no schema: name one"));
    };
    let found = version(&mut step).await.map_err(failed)?;
    if found > LATEST {
        return Err(MemoriesError::NewerSchema { found, known: LATEST });
    }
    if found < LATEST {
        step.execute(sqlx::raw_sql(SCHEMA)).await.map_err(failed)?;
    }
    step.commit().await.map_err(failed)?;
    quoted(&current)
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

async fn set_search_path(conn: &mut PgConnection, path: &str) -> Result<(), Error> {
    let set = sqlx::query("SELECT set_config('search_path', $1, false)").bind(path);
    set.execute(conn).await.map(drop)
}

/// Returns the search path that has this schema alone.
fn quoted(schema: &str) -> Result<String, MemoriesError> {
    if schema.is_empty() || schema.len() > LONGEST_SCHEMA || schema.contains('\0') {
        return Err(refused("the name of the schema has not 1 to 63 bytes without NUL"));
    }
    Ok(format!("\"{}\"", schema.replace('"', "\"\"")))
}

fn opening(error: &Error) -> MemoriesError {
    let code = match error {
        Error::Database(database) => database.code().unwrap_or_default(),
        _ => "".into(),
    };
    match &*code {
        "28P01" | "28000" => refused("the user or the password is refused"),
        "3D000" => refused("there is no such database: create it first"),
        "42501" => refused("the user has no right to make or read the tables"),
        "42P07" => refused("the schema has a table of another program: name another one"),
        _ => match memories_error(error) {
            MemoriesError::Failed(_) => refused(&describe(error)),
            other => other,
        },
    }
}

fn refused(reason: &str) -> MemoriesError {
    MemoriesError::Open { reason: reason.to_owned(), source: None }
}
