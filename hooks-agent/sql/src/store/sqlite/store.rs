//! The store in an SQLite file.

use std::path::Path;

use hooks_agent_core::store::StoreError;
use sqlx::Sqlite;

use crate::store::sql_store::SqlStore;
use crate::store::sqlite::options::SqliteOptions;

/// The store in an SQLite file: for the processes of one machine. Requires feature `sqlite`.
///
/// The file has a write-ahead log, which holds every step before its commit returns. A clone is a handle
/// of the same connections: one that writes, a few that read.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use hooks_agent::store::{Filter, SqliteStore, Store};
///
/// # let folder = std::env::temp_dir().join(format!("hooks-sqlite-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let store = SqliteStore::open(folder.join("agents.db")).await?;
/// assert!(store.threads(Filter::agent("clerk")).await?.is_empty());
/// # drop(store);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SqliteStore = SqlStore<Sqlite>;

impl SqlStore<Sqlite> {
    /// Opens the store in this file, with the default options. Creates the file if there is none, with
    /// rights for its owner alone, and brings its schema up to date.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the path is a URL, there is no such folder, or the file is a folder, read-only
    /// or not a store; [`StoreError::NewerSchema`] if a newer program wrote it: it is left as it is.
    pub async fn open(path: impl AsRef<Path> + Send) -> Result<Self, StoreError> {
        Self::options().open(path).await
    }

    /// Opens the store in this file to read alone, with the default options. See
    /// [`SqliteOptions::read_only`].
    ///
    /// # Errors
    /// [`StoreError::Open`] if there is no store; [`StoreError::OlderSchema`] and
    /// [`StoreError::NewerSchema`] if it is not of this program's version.
    pub async fn read_only(path: impl AsRef<Path> + Send) -> Result<Self, StoreError> {
        Self::options().read_only().open(path).await
    }

    /// Returns the options of a store, to change them and open it.
    pub fn options() -> SqliteOptions {
        SqliteOptions::new()
    }
}
