//! Brings the schema of a file up to date.

use std::path::Path;

use hooks_agent_core::store::StoreError;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Error, Executor, Row};

use crate::database::sqlite::{place_of, refuse_url, use_wal};
use crate::database::{Place, unsigned};
use crate::store::migration::Migration;
use crate::store::schema::{LATEST, MIGRATIONS};
use crate::store::sqlite::connection::{reading, writing};
use crate::store::sqlite::options::SqliteOptions;

/// The mark of the files of this store: "hook" in ASCII.
const APPLICATION: i64 = 0x686f_6f6b;

/// What there is of a store in a file.
struct Found {
    /// The version; 0 if there is none yet.
    version: i64,
    is_wal: bool,
}

/// Applies the migrations that the file lacks, and returns them. Only one process does; the others wait.
///
/// A file that is not of this store, or of a newer schema, is read and not written.
pub(super) async fn migrate(
    path: &Path,
    options: &SqliteOptions,
) -> Result<Vec<Migration>, StoreError> {
    let place = place_of(path);
    let failed = |error: Error| place.opening(error.into());
    let found = look(path, options).await?;
    if found.version == LATEST && found.is_wal {
        return Ok(Vec::new());
    }
    let mut conn = writing(path, options).connect().await.map_err(failed)?;
    let switched = use_wal(&mut conn, options.busy_timeout).await;
    switched.map_err(|error| place.opening(error))?;
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let missing = missing(check(&place, &mut step).await?);
    for migration in &missing {
        let sql = AssertSqlSafe(migration.sql.clone());
        step.execute(sqlx::raw_sql(sql)).await.map_err(failed)?;
    }
    step.commit().await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    Ok(missing)
}

/// Returns the migrations that the file lacks, and writes nothing.
pub(super) async fn missing_migrations(
    path: &Path,
    options: &SqliteOptions,
) -> Result<Vec<Migration>, StoreError> {
    refuse_url(path)?;
    if !path.try_exists().is_ok_and(|exists| exists) {
        return Ok(missing(0));
    }
    Ok(missing(look(path, options).await?.version))
}

/// Refuses a file whose schema is not that of this program.
pub(super) async fn require_latest(path: &Path, options: &SqliteOptions) -> Result<(), StoreError> {
    let found = look(path, options).await?.version;
    if found == 0 {
        return Err(place_of(path).refused("there is no store in it").into());
    }
    if found < LATEST {
        let (found, needed) = (unsigned(found), unsigned(LATEST));
        return Err(StoreError::OlderSchema { found, needed });
    }
    Ok(())
}

/// Looks what there is, with a connection that cannot write.
async fn look(path: &Path, options: &SqliteOptions) -> Result<Found, StoreError> {
    let place = place_of(path);
    let failed = |error: Error| place.opening(error.into());
    let mut conn = reading(path, options).connect().await.map_err(failed)?;
    let found = check(&place, &mut conn).await;
    let mode: Result<String, _> =
        sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut conn).await;
    conn.close().await.map_err(failed)?;
    Ok(Found { version: found?, is_wal: mode.map_err(failed)? == "wal" })
}

/// Returns the version of the schema; 0 if the file has none yet.
async fn check(place: &Place, conn: &mut SqliteConnection) -> Result<i64, StoreError> {
    let row = sqlx::query(
        "SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
FROM pragma_user_version v, pragma_application_id a",
    )
    .fetch_one(conn)
    .await
    .map_err(|error| place.opening(error.into()))?;
    let column = |index| row.try_get::<i64, _>(index).map_err(|error| place.opening(error.into()));
    let (version, application, tables) = (column(0)?, column(1)?, column(2)?);
    if tables > 0 && application != APPLICATION {
        return Err(place.refused("it is a database of another program").into());
    }
    if version > LATEST {
        return Err(StoreError::NewerSchema { found: unsigned(version), known: unsigned(LATEST) });
    }
    Ok(version)
}

/// Returns the migrations after a version, as they are applied.
fn missing(found: i64) -> Vec<Migration> {
    let missing = MIGRATIONS.iter().filter(|migration| migration.version > found);
    let with_marks = missing.map(|migration| {
        let version = migration.version;
        let marks =
            format!("PRAGMA user_version = {version};\nPRAGMA application_id = {APPLICATION};\n");
        let sql = format!("{}{}{marks}", migration.sql, migration.sqlite);
        Migration { version: unsigned(version), sql }
    });
    with_marks.collect()
}
