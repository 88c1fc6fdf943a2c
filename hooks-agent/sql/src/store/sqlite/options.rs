//! Options of a store in an SQLite file.

use std::path::Path;
use std::time::Duration;

use hooks_agent_core::store::StoreError;

use crate::database::sqlite::{existing_file, prepare_file};
use crate::store::migration::Migration;
use crate::store::sqlite::connection::open;
use crate::store::sqlite::migrate::{migrate, missing_migrations, require_latest};
use crate::store::sqlite::store::SqliteStore;

/// When what is written reaches the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synchronous {
    /// With every commit: a step that was committed survives a loss of power.
    #[default]
    Full,
    /// When the operating system writes it. A crash of the process loses nothing, a loss of power the
    /// last steps or the file: for tests and measurements.
    Off,
}

/// Options of a [`SqliteStore`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::time::Duration;
///
/// use hooks_agent::store::SqliteStore;
///
/// # let folder = std::env::temp_dir().join(format!("hooks-options-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let store = SqliteStore::options()
///     .lease_time(Duration::from_secs(10))
///     .open(folder.join("agents.db"))
///     .await?;
/// # drop(store);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SqliteOptions {
    pub(super) lease_time: Duration,
    pub(super) busy_timeout: Duration,
    pub(super) synchronous: Synchronous,
    pub(super) is_read_only: bool,
}

impl SqliteOptions {
    pub(super) fn new() -> Self {
        Self {
            lease_time: Duration::from_secs(30),
            busy_timeout: Duration::from_secs(5),
            synchronous: Synchronous::Full,
            is_read_only: false,
        }
    }

    /// Sets how long a lease lasts without being renewed; 30 seconds by default.
    pub fn lease_time(mut self, time: Duration) -> Self {
        self.lease_time = time;
        self
    }

    /// Sets how long an operation waits while another process writes; 5 seconds by default. It then
    /// fails with [`StoreError::Unavailable`].
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy_timeout = time;
        self
    }

    /// Sets when what is written reaches the disk.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Opens the store to read alone, for dashboards: it is neither made nor migrated. Operations that
    /// write fail with [`StoreError::ReadOnly`]. The schema must be that of this program.
    ///
    /// While other processes use the file, SQLite needs the right to write its folder, where the index of
    /// the write-ahead log is.
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Opens the store in this file. See [`SqliteStore::open`].
    ///
    /// # Errors
    /// Those of [`SqliteStore::open`].
    pub async fn open(self, path: impl AsRef<Path> + Send) -> Result<SqliteStore, StoreError> {
        let path = if self.is_read_only {
            let path = existing_file(path.as_ref())?;
            require_latest(&path, &self).await?;
            path
        } else {
            let path = prepare_file(path.as_ref())?;
            migrate(&path, &self).await?;
            path
        };
        Ok(SqliteStore::of(open(&path, &self).await?))
    }

    /// Makes the file and its tables, or brings them up to date, in one transaction. Returns what was
    /// applied. [`open`](Self::open) does it too.
    ///
    /// # Errors
    /// Those of [`SqliteStore::open`].
    pub async fn migrate(
        self,
        path: impl AsRef<Path> + Send,
    ) -> Result<Vec<Migration>, StoreError> {
        migrate(&prepare_file(path.as_ref())?, &self).await
    }

    /// Returns what [`migrate`](Self::migrate) would apply, and writes nothing.
    ///
    /// # Errors
    /// Those of [`SqliteStore::open`].
    pub async fn dry_run(
        self,
        path: impl AsRef<Path> + Send,
    ) -> Result<Vec<Migration>, StoreError> {
        missing_migrations(path.as_ref(), &self).await
    }
}
