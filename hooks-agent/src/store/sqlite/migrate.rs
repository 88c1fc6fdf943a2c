//! Brings the schema of a file up to date.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Error, Executor, Row};

use crate::store::sql::{LATEST, MIGRATIONS, describe, store_error, unsigned};
use crate::store::sqlite::connection::connect_options;
use crate::store::sqlite::file::refused;
use crate::store::{SqliteOptions, StoreError};

/// The mark of the files of this store: "hook" in ASCII.
const APPLICATION: i64 = 0x686f_6f6b;

/// How long an attempt waits for the next one while another process opens the file.
const PAUSE: Duration = Duration::from_millis(10);

/// Applies the migrations that the file lacks. Only one process does; the others wait.
///
/// A file that is not of this store, or of a newer schema, is read and not written.
pub(super) async fn migrate(path: &Path, options: &SqliteOptions) -> Result<(), StoreError> {
    let failed = |error| opening(path, &error);
    let plain = connect_options(path, options);
    let mut conn = read_only(path, &plain).await?;
    let found = check(path, &mut conn).await;
    let mode: Result<String, _> =
        sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut conn).await;
    conn.close().await.map_err(failed)?;
    if found? == LATEST && mode.map_err(failed)? == "wal" {
        return Ok(());
    }
    let mut conn = plain.connect().await.map_err(failed)?;
    use_wal(&mut conn, options.busy_timeout).await.map_err(failed)?;
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let found = check(path, &mut step).await?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        step.execute(sqlx::raw_sql(migration.sql)).await.map_err(failed)?;
    }
    let marks = format!("PRAGMA user_version = {LATEST}; PRAGMA application_id = {APPLICATION}");
    step.execute(sqlx::raw_sql(AssertSqlSafe(marks))).await.map_err(failed)?;
    step.commit().await.map_err(failed)?;
    conn.close().await.map_err(failed)
}

/// Opens a connection that cannot write.
async fn read_only(
    path: &Path,
    plain: &SqliteConnectOptions,
) -> Result<SqliteConnection, StoreError> {
    plain.clone().read_only(true).connect().await.map_err(|error| opening(path, &error))
}

/// Returns the version of the schema; 0 if the file has none yet.
async fn check(path: &Path, conn: &mut SqliteConnection) -> Result<i64, StoreError> {
    let row = sqlx::query(
        "SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
FROM pragma_user_version v, pragma_application_id a",
    )
    .fetch_one(conn)
    .await
    .map_err(|error| opening(path, &error))?;
    let column = |index| row.try_get::<i64, _>(index).map_err(|error| opening(path, &error));
    let (version, application, tables) = (column(0)?, column(1)?, column(2)?);
    if tables > 0 && application != APPLICATION {
        let reason = format!("`{}` is a database of another program", path.display());
        return Err(refused(reason, None));
    }
    if version > LATEST {
        return Err(StoreError::NewerSchema { found: unsigned(version), known: unsigned(LATEST) });
    }
    Ok(version)
}

/// Switches the file to a write-ahead log, which needs it alone. SQLite does not wait for that.
async fn use_wal(conn: &mut SqliteConnection, longest: Duration) -> Result<(), Error> {
    let begin = Instant::now();
    loop {
        let mode = sqlx::query("PRAGMA journal_mode = WAL").fetch_all(&mut *conn).await;
        match mode {
            Err(error) if is_busy(&error) && begin.elapsed() < longest => {
                tokio::time::sleep(PAUSE).await;
            }
            result => return result.map(drop),
        }
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(store_error(error), StoreError::Unavailable(_))
}

/// Returns the error of a file that cannot be opened.
fn opening(path: &Path, error: &Error) -> StoreError {
    let code = match error {
        Error::Database(database) => database.code().and_then(|code| code.parse::<u32>().ok()),
        _ => None,
    };
    let path = path.display();
    let reason = match code.map(|code| code & 0xff) {
        Some(26) => format!("`{path}` is not a database"),
        Some(11) => format!("the database `{path}` is damaged"),
        Some(8) => format!("`{path}` or its folder is read-only: allow to write them"),
        Some(5 | 6 | 13) => return store_error(error),
        Some(14) => format!("`{path}` or its folder cannot be written"),
        _ => format!("`{path}`: {}", describe(error)),
    };
    refused(reason, None)
}
