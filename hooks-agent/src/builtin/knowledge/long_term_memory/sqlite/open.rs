//! Opens a file.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Error, Executor};

use crate::builtin::knowledge::long_term_memory::error::MemoriesError;
use crate::builtin::knowledge::long_term_memory::sql::{LATEST, describe, memories_error};

/// How long an operation waits while another process writes.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long an attempt waits for the next one while another process opens the file.
const PAUSE: Duration = Duration::from_millis(10);

const SCHEMA: &str = include_str!("schema_1.sql");

/// Creates the file if there is none, for its owner alone, and its tables. Returns how to connect.
pub(super) async fn open(path: &Path) -> Result<SqliteConnectOptions, MemoriesError> {
    let path = prepare(path)?;
    let connect = SqliteConnectOptions::new()
        .filename(&path)
        .busy_timeout(LONGEST_WAIT)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging();
    let failed = |error| opening(&path, &error);
    let mut conn = connect.connect().await.map_err(failed)?;
    if version(&mut conn).await.map_err(failed)? < LATEST {
        use_wal(&mut conn).await.map_err(failed)?;
    }
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let found = version(&mut step).await.map_err(failed)?;
    if found > LATEST {
        return Err(MemoriesError::NewerSchema { found, known: LATEST });
    }
    if found < LATEST {
        step.execute(sqlx::raw_sql(SCHEMA)).await.map_err(failed)?;
    }
    step.commit().await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    Ok(connect)
}

fn prepare(path: &Path) -> Result<PathBuf, MemoriesError> {
    let shown = path.display();
    if path.as_os_str().is_empty() {
        return Err(refused("the path is empty: name a file".to_owned(), None));
    }
    // SQLite reads an absolute path as a path and never as a URL.
    let path = std::path::absolute(path)
        .map_err(|error| refused(format!("`{shown}` is no path"), Some(error)))?;
    if fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
        return Err(refused(format!("`{shown}` is a folder: name a file in it"), None));
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(path),
        Err(error) => {
            let reason = match error.kind() {
                ErrorKind::NotFound => {
                    format!("the folder of `{shown}` does not exist: create it first")
                }
                kind => format!("`{shown}` cannot be created: {kind}"),
            };
            Err(refused(reason, Some(error)))
        }
    }
}

/// Returns the version of the tables; 0 if there are none.
async fn version(conn: &mut SqliteConnection) -> Result<i64, Error> {
    let find = "SELECT count(*) FROM sqlite_schema WHERE name = 'memory_version'";
    let tables: i64 = sqlx::query_scalar(find).fetch_one(&mut *conn).await?;
    if tables == 0 {
        return Ok(0);
    }
    sqlx::query_scalar("SELECT version FROM memory_version").fetch_one(conn).await
}

/// Switches the file to a write-ahead log, which needs it alone. SQLite does not wait for that.
async fn use_wal(conn: &mut SqliteConnection) -> Result<(), Error> {
    let begin = Instant::now();
    loop {
        match sqlx::query("PRAGMA journal_mode = WAL").fetch_all(&mut *conn).await {
            Err(error)
                if memories_error(&error).is_transient() && begin.elapsed() < LONGEST_WAIT =>
            {
                tokio::time::sleep(PAUSE).await;
            }
            result => return result.map(drop),
        }
    }
}

fn opening(path: &Path, error: &Error) -> MemoriesError {
    let code = match error {
        Error::Database(database) => database.code().and_then(|code| code.parse::<u32>().ok()),
        _ => None,
    };
    let path = path.display();
    let reason = match code.map(|code| code & 0xff) {
        Some(26) => format!("`{path}` is not a database"),
        Some(11) => format!("the database `{path}` is damaged"),
        Some(8) => format!("`{path}` or its folder is read-only: allow to write them"),
        Some(1) => format!("`{path}` has tables of another program: name another file"),
        Some(5 | 6 | 13) => return memories_error(error),
        _ => format!("`{path}`: {}", describe(error)),
    };
    refused(reason, None)
}

fn refused(reason: String, source: Option<io::Error>) -> MemoriesError {
    MemoriesError::Open { reason, source: source.map(Into::into) }
}
