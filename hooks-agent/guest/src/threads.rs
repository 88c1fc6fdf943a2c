//! The threads of other agents, in an SQLite file.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use hooks_agent_sql::database::sqlite::{connect_options, place_of, prepare_file, use_wal};
use hooks_agent_sql::database::{Access, Columns, DatabaseError, Dialect, Statement};
use hooks_core::BoxError;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Executor, Sqlite};

use crate::thread::GuestThread;

/// How long a process waits for another one.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The table, and the end of threads that had no event for 30 days.
const OPEN: &str = "CREATE TABLE IF NOT EXISTS guest_thread (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS guest_parent (
    session TEXT PRIMARY KEY, parent TEXT NOT NULL, seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;";

const JOIN: &str = "INSERT INTO guest_parent (session, parent, seen) VALUES ($1, $2, unixepoch())
    ON CONFLICT (session) DO UPDATE SET seen = excluded.seen";

const PARENT: &str = "SELECT parent FROM guest_parent WHERE session = $1";

const FORGET_PARENTS: &str = "DELETE FROM guest_parent WHERE seen < unixepoch() - 30 * 24 * 3600";

/// How many sessions may be parts of each other.
const DEEPEST: usize = 64;

const FORGET: &str = "DELETE FROM guest_thread WHERE seen < unixepoch() - 30 * 24 * 3600";

const WRITE: &str = "INSERT INTO guest_thread (id, state, seen) VALUES ($1, $2, unixepoch())
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, seen = excluded.seen";

/// Notes an event that changes nothing, once a day.
const SEEN: &str = "UPDATE guest_thread SET seen = unixepoch()
    WHERE id = $1 AND seen < unixepoch() - 24 * 3600";

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
    File(#[source] BoxError),
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
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| GuestThreadsError::File(error.into()))?;
        }
        let path = prepare_file(path)?;
        let opened = connect(&path).await.map_err(|error| place_of(&path).opening(error))?;
        Ok(Self { connection: opened })
    }

    /// Opens the file for this process alone, until it is dropped: others wait for it, and then fail.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if it cannot be read and written, or another process has it.
    pub async fn open_alone(path: impl AsRef<Path> + Send) -> Result<Self, GuestThreadsError> {
        let mut threads = Self::open(path).await?;
        let alone = async |connection: &mut SqliteConnection| {
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").await?;
            // The lock is taken with the first write.
            connection.execute(sqlx::raw_sql("BEGIN EXCLUSIVE; COMMIT")).await
        };
        alone(&mut threads.connection).await.map_err(DatabaseError::from)?;
        Ok(threads)
    }

    /// Reads a thread; one that is new is empty.
    ///
    /// # Errors
    /// [`GuestThreadsError`] if it cannot be read.
    pub async fn read(&mut self, thread: &str) -> Result<GuestThread, GuestThreadsError> {
        let mut transaction = Sqlite::begin(&mut self.connection, Access::Read, None).await?;
        Ok(state_of(&mut transaction, thread).await?.1)
    }

    /// Writes threads, all of them or none.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if they cannot be written.
    pub async fn write<'a>(
        &mut self,
        threads: impl IntoIterator<Item = (impl AsRef<str>, &'a GuestThread)>,
    ) -> Result<(), GuestThreadsError> {
        let mut transaction = Sqlite::begin(&mut self.connection, Access::Write, None).await?;
        for (id, thread) in threads {
            let id = id.as_ref();
            let state = serde_json::to_string(thread);
            let state = state.map_err(|source| unread(id, source))?;
            Sqlite::execute(&mut transaction, Statement::new(WRITE).bind(id).bind(state)).await?;
        }
        transaction.commit().await.map_err(DatabaseError::from)?;
        Ok(())
    }

    /// Forgets threads without an event for 30 days.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if the file cannot be written.
    pub async fn forget_old(&mut self) -> Result<(), GuestThreadsError> {
        let mut transaction = Sqlite::begin(&mut self.connection, Access::Write, None).await?;
        for forget in [FORGET, FORGET_PARENTS] {
            Sqlite::execute(&mut transaction, Statement::new(forget)).await?;
        }
        transaction.commit().await.map_err(DatabaseError::from)?;
        Ok(())
    }

    /// Returns the outermost session of one that is a part of another: that one's, if it is a part itself. The first
    /// parent that is named for a session stays its parent.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if the file cannot be read and written.
    pub async fn outermost(
        &mut self,
        session: &str,
        parent: &str,
    ) -> Result<String, GuestThreadsError> {
        let mut transaction = Sqlite::begin(&mut self.connection, Access::Write, None).await?;
        let join = Statement::new(JOIN).bind(session).bind(parent);
        Sqlite::execute(&mut transaction, join).await?;
        Sqlite::execute(&mut transaction, Statement::new(FORGET_PARENTS)).await?;
        let mut outermost = session.to_owned();
        for _ in 0..DEEPEST {
            let find = Statement::new(PARENT).bind(outermost.as_str());
            let found = Sqlite::fetch(&mut transaction, find).await?;
            match found.first().map(|row| row.text(0)).transpose()? {
                // A circle ends where it began.
                Some(parent) if parent != session => outermost = parent,
                _ => break,
            }
        }
        transaction.commit().await.map_err(DatabaseError::from)?;
        Ok(outermost)
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
        let mut transaction = Sqlite::begin(&mut self.connection, Access::Write, None).await?;
        let (before, mut state) = state_of(&mut transaction, thread).await?;
        let changed = change(&mut state).await;
        let after = serde_json::to_string(&state).map_err(|source| unread(thread, source))?;
        if before.as_deref() == Some(&after) {
            Sqlite::execute(&mut transaction, Statement::new(SEEN).bind(thread)).await?;
        } else {
            let write = Statement::new(WRITE).bind(thread).bind(after);
            Sqlite::execute(&mut transaction, write).await?;
            // It reads the whole table: once a thread.
            if before.is_none() {
                Sqlite::execute(&mut transaction, Statement::new(FORGET)).await?;
            }
        }
        transaction.commit().await.map_err(DatabaseError::from)?;
        Ok(changed)
    }
}

/// Reads a thread, and how it was written.
async fn state_of(
    connection: &mut SqliteConnection,
    thread: &str,
) -> Result<(Option<String>, GuestThread), GuestThreadsError> {
    let find = Statement::new("SELECT state FROM guest_thread WHERE id = $1").bind(thread);
    let found = Sqlite::fetch(connection, find).await?;
    let before = found.first().map(|row| row.text(0)).transpose()?;
    let state = match &before {
        None => GuestThread::default(),
        Some(text) => serde_json::from_str(text).map_err(|source| unread(thread, source))?,
    };
    Ok((before, state))
}

fn unread(thread: &str, source: serde_json::Error) -> GuestThreadsError {
    GuestThreadsError::State { thread: thread.to_owned(), source }
}

async fn connect(path: &Path) -> Result<SqliteConnection, DatabaseError> {
    let mut connection = connect_options(path, LONGEST_WAIT).connect().await?;
    use_wal(&mut connection, LONGEST_WAIT).await?;
    connection.execute(sqlx::raw_sql(OPEN)).await?;
    Ok(connection)
}

impl From<DatabaseError> for GuestThreadsError {
    fn from(error: DatabaseError) -> Self {
        Self::File(error.into())
    }
}

impl fmt::Debug for GuestThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestThreads").finish_non_exhaustive()
    }
}
