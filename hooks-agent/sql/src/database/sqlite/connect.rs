//! Connections to a file.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};

use crate::database::error::DatabaseError;
use crate::database::place::Place;

/// How long an attempt waits for the next one while another process opens the file.
const PAUSE: Duration = Duration::from_millis(10);

/// Returns how errors name a file.
#[must_use]
pub fn place_of(path: &Path) -> Place {
    Place::new(format!("`{}`", path.display()))
}

/// Returns how a connection is made that waits this long while another process writes, and whose commits
/// are on the disk when they return.
#[must_use]
pub fn connect_options(path: &Path, busy_timeout: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        // The longest that SQLite takes, in milliseconds, is an `i32`.
        .busy_timeout(busy_timeout.min(Duration::from_hours(24)))
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .pragma("temp_store", "MEMORY")
        .disable_statement_logging()
}

/// Switches the file to a write-ahead log, which needs it alone. SQLite does not wait for that: this does,
/// so long at most.
///
/// # Errors
/// That of the database.
pub async fn use_wal(conn: &mut SqliteConnection, longest: Duration) -> Result<(), DatabaseError> {
    let begin = Instant::now();
    loop {
        let mode = sqlx::query("PRAGMA journal_mode = WAL").fetch_all(&mut *conn).await;
        match mode.map_err(DatabaseError::from) {
            Err(error) if error.is_transient() && begin.elapsed() < longest => {
                tokio::time::sleep(PAUSE).await;
            }
            result => return result.map(drop),
        }
    }
}
