//! Brings the schema of a database up to date.

use hooks_agent_core::store::StoreError;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, Row};

use crate::database::postgres::search_path;
use crate::database::{DatabaseError, Limit, Place, unsigned};
use crate::store::migration::Migration;
use crate::store::schema::{LATEST, MIGRATIONS};

/// The advisory lock of those who migrate a store: "hook" in ASCII.
const LOCK: i64 = 0x686f_6f6b;

/// What PostgreSQL has besides the first schema. Rows that are updated with every step find room in
/// their page.
const BESIDES: &str = "CREATE TABLE store_version (version BIGINT NOT NULL);
INSERT INTO store_version VALUES (0);
ALTER TABLE thread SET (fillfactor = 50);
";

/// What there is of a store.
pub(super) struct Found {
    /// The schema of the tables, if there is one.
    pub(super) name: Option<String>,
    /// The version; 0 if there is none yet.
    pub(super) version: i64,
}

impl Found {
    /// Refuses what this program cannot bring up to date.
    pub(super) fn check(&self, place: &Place, is_named: bool) -> Result<(), StoreError> {
        if self.version > LATEST {
            let (found, known) = (unsigned(self.version), unsigned(LATEST));
            return Err(StoreError::NewerSchema { found, known });
        }
        if self.name.is_none() && !is_named {
            return Err(place
                .refused("the search path of the user has no schema: name one")
                .into());
        }
        Ok(())
    }

    /// Returns the migrations that are missing, as they are applied.
    pub(super) fn missing(&self, schema: Option<&str>) -> Vec<Migration> {
        let missing = MIGRATIONS.iter().filter(|migration| migration.version > self.version);
        let mut missing: Vec<_> = missing
            .map(|migration| {
                let version = migration.version;
                let besides = if version == 1 { BESIDES } else { "" };
                let set = format!("UPDATE store_version SET version = {version}");
                Migration {
                    version: unsigned(version),
                    sql: format!("{}{}{besides}{set};\n", migration.sql, migration.postgres),
                }
            })
            .collect();
        if let (None, Some(schema), Some(first)) = (&self.name, schema, missing.first_mut()) {
            let path = search_path(schema);
            first.sql.insert_str(0, &format!("CREATE SCHEMA IF NOT EXISTS {path};\n"));
        }
        missing
    }
}

/// Looks what there is, and writes nothing.
pub(super) async fn look(
    conn: &mut PgConnection,
    schema: Option<&str>,
) -> Result<Found, DatabaseError> {
    if let Some(schema) = schema {
        let set = sqlx::query("SELECT set_config('search_path', $1, false)");
        set.bind(search_path(schema)).execute(&mut *conn).await?;
    }
    let row = sqlx::query(
        "SELECT CAST(current_schema() AS TEXT),
    to_regclass(quote_ident(current_schema()) || '.store_version') IS NOT NULL",
    )
    .fetch_one(&mut *conn)
    .await?;
    let version = if row.try_get(1)? {
        sqlx::query_scalar("SELECT version FROM store_version").fetch_one(conn).await?
    } else {
        0
    };
    Ok(Found { name: row.try_get(0)?, version })
}

/// Applies the migrations that are missing, in one transaction, and returns the schema and them. Only
/// one process does; the others wait. The inner error is why a schema is left as it is. After an error
/// the connection is closed, and its lock is free.
pub(super) async fn migrate(
    conn: &mut PgConnection,
    place: &Place,
    schema: Option<&str>,
    limit: Limit,
) -> Result<Result<(Option<String>, Vec<Migration>), StoreError>, DatabaseError> {
    if let Some(limit) = limit.of_server() {
        let set = sqlx::query("SELECT set_config('statement_timeout', $1, false)");
        set.bind(limit).execute(&mut *conn).await?;
    }
    // Before the transaction, which then sees the schema that another process made meanwhile.
    sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut *conn).await?;
    let mut step = conn.begin().await?;
    let found = look(&mut step, schema).await?;
    if let Err(error) = found.check(place, schema.is_some()) {
        return Ok(Err(error));
    }
    let missing = found.missing(schema);
    for migration in &missing {
        // Its only name from outside is quoted as an identifier.
        step.execute(sqlx::raw_sql(AssertSqlSafe(migration.sql.clone()))).await?;
    }
    let name = look(&mut step, schema).await?.name;
    step.commit().await?;
    sqlx::query("SELECT pg_advisory_unlock($1)").bind(LOCK).execute(conn).await?;
    Ok(Ok((name, missing)))
}
