//! Brings the schema of a database up to date.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::store::StoreError;
use crate::store::postgres::opening::{opening, search_path, set_search_path};
use crate::store::sql::{LATEST, MIGRATIONS, unsigned};

/// The advisory lock of those who open a store: "hook" in ASCII.
const LOCK: i64 = 0x686f_6f6b;

/// What PostgreSQL has besides the schema. Rows that are updated with every step find room in their
/// page.
const BESIDES: &str = "CREATE TABLE store_version (version BIGINT NOT NULL);
INSERT INTO store_version VALUES (0);
ALTER TABLE thread SET (fillfactor = 50)";

/// Applies the migrations that the schema lacks, in one transaction, and returns its name. Only one
/// process does; the others wait. A newer schema is left as it is; where there is none, so is a database
/// that `is_existing` requires to have one.
pub(super) async fn migrate(
    conn: &mut PgConnection,
    schema: Option<&str>,
    is_existing: bool,
) -> Result<String, StoreError> {
    let failed = |error| opening(&error);
    let mut step = conn.begin().await.map_err(failed)?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
    lock.execute(&mut *step).await.map_err(failed)?;
    if let Some(schema) = schema {
        let path = search_path(schema);
        // The name is quoted as an identifier.
        let create = AssertSqlSafe(format!("CREATE SCHEMA IF NOT EXISTS {path}"));
        step.execute(sqlx::raw_sql(create)).await.map_err(failed)?;
        set_search_path(&mut step, &path).await.map_err(failed)?;
    }
    let current: Option<String> = sqlx::query_scalar("SELECT CAST(current_schema() AS TEXT)")
        .fetch_one(&mut *step)
        .await
        .map_err(failed)?;
    let Some(current) = current else {
        let reason = "the search path of the user has no schema: name one".to_owned();
        return Err(StoreError::Open { reason, source: None });
    };
    let found = version(&mut step).await?;
    if is_existing && found == 0 {
        let reason = format!("there is no store in the schema `{current}`");
        return Err(StoreError::Open { reason, source: None });
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        step.execute(sqlx::raw_sql(migration.sql)).await.map_err(failed)?;
    }
    if found == 0 {
        step.execute(sqlx::raw_sql(BESIDES)).await.map_err(failed)?;
    }
    if found < LATEST {
        let set = sqlx::query("UPDATE store_version SET version = $1").bind(LATEST);
        set.execute(&mut *step).await.map_err(failed)?;
    }
    step.commit().await.map_err(failed)?;
    Ok(current)
}

/// Returns the version of the schema; 0 if there is none yet.
async fn version(conn: &mut PgConnection) -> Result<i64, StoreError> {
    let failed = |error| opening(&error);
    let is_there: bool = sqlx::query_scalar(
        "SELECT to_regclass(quote_ident(current_schema()) || '.store_version') IS NOT NULL",
    )
    .fetch_one(&mut *conn)
    .await
    .map_err(failed)?;
    if !is_there {
        return Ok(0);
    }
    let version: i64 = sqlx::query_scalar("SELECT version FROM store_version")
        .fetch_one(conn)
        .await
        .map_err(failed)?;
    if version > LATEST {
        return Err(StoreError::NewerSchema { found: unsigned(version), known: unsigned(LATEST) });
    }
    Ok(version)
}
