//! The threads of other agents, in an SQLite file.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::thread::GuestThread;

/// The table, and the end of threads that had no event for 30 days.
const OPEN: &str = "CREATE TABLE IF NOT EXISTS guest_thread (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;";

const FORGET: &str = "DELETE FROM guest_thread WHERE seen < unixepoch() - 30 * 24 * 3600";

/// Notes an event that changes nothing, once a day.
const SEEN: &str = "UPDATE guest_thread SET seen = unixepoch()
    WHERE id = ? AND seen < unixepoch() - 24 * 3600";

/// The threads of other agents, in an SQLite file that their processes share.
///
/// One process works on the threads of a file at a time; others wait for it, at most 10 seconds. A thread
/// without an event for 30 days is forgotten.
pub struct GuestThreads {
    connection: SqliteConnection,
}

/// Why a thread cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuestThreadsError {
    /// The file cannot be read or written.
    #[error("the file of the threads cannot be used")]
    File(#[from] sqlx::Error),
    /// The state of a thread is not what this version writes.
    #[error("the state of the thread `{thread}` cannot be read")]
    State {
        /// The id of the thread.
        thread: String,
        /// What does not fit.
        source: serde_json::Error,
    },
}

impl GuestThreads {
    /// Opens the file, or creates it for the user alone.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if it cannot be read and written.
    pub async fn open(path: impl AsRef<Path> + Send) -> Result<Self, GuestThreadsError> {
        let path = path.as_ref();
        create(path).map_err(sqlx::Error::Io)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(Duration::from_secs(10))
            .disable_statement_logging();
        let mut connection = options.connect().await?;
        connection.execute(sqlx::raw_sql(OPEN)).await?;
        Ok(Self { connection })
    }

    /// Changes a thread while no other process has the file. What `change` leaves is written before this
    /// returns; if this future is dropped or fails, nothing is.
    ///
    /// # Errors
    /// [`GuestThreadsError`] if the thread cannot be read or written.
    pub async fn update<R>(
        &mut self,
        thread: &str,
        change: impl AsyncFnOnce(&mut GuestThread) -> R,
    ) -> Result<R, GuestThreadsError> {
        let mut transaction = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let found: Option<(String,)> =
            sqlx::query_as("SELECT state FROM guest_thread WHERE id = ?")
                .bind(thread)
                .fetch_optional(&mut *transaction)
                .await?;
        let unread = |source| GuestThreadsError::State { thread: thread.to_owned(), source };
        let before = found.map(|(state,)| state);
        let mut state = match &before {
            None => GuestThread::default(),
            Some(text) => serde_json::from_str(text).map_err(unread)?,
        };
        let changed = change(&mut state).await;
        let after = serde_json::to_string(&state).map_err(unread)?;
        if before.as_deref() == Some(&after) {
            sqlx::query(SEEN).bind(thread).execute(&mut *transaction).await?;
        } else {
            let write = "INSERT INTO guest_thread (id, state, seen) VALUES (?, ?, unixepoch())
                ON CONFLICT (id) DO UPDATE SET state = excluded.state, seen = excluded.seen";
            let write = sqlx::query(write).bind(thread).bind(after);
            write.execute(&mut *transaction).await?;
            sqlx::query(FORGET).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(changed)
    }
}

/// Creates the file and its folder, for the user alone.
fn create(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

impl fmt::Debug for GuestThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestThreads").finish_non_exhaustive()
    }
}
