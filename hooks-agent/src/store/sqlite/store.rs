//! The store in an SQLite file.

use std::fmt;
use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::store::{
    Acquired, Backend, Filter, HistoryRow, Lease, NameError, Step, Steps, Store, StoreError,
    StoreFuture, StoreReport, ThreadInfo, ThreadKey, ThreadRecord, Verdict, Waiting, check_name,
};
use hooks_core::BoxFuture;
use serde_json::{Map, Value};

use crate::call::RunId;
use crate::store::sql::Filters;
use crate::store::sqlite::connection::Connections;
use crate::store::sqlite::options::SqliteOptions;
use crate::store::sqlite::statements::{ELEMENTS, LOAD, NOW};

/// How often a call that waits for a lease asks for it. SQLite cannot say when it is free.
const ASK_AGAIN: Duration = Duration::from_millis(250);

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
#[derive(Clone)]
pub struct SqliteStore {
    connections: Arc<Connections>,
    namespace: Arc<str>,
}

impl SqliteStore {
    /// The statement that reads a thread, for tests of its plan.
    #[doc(hidden)]
    pub const LOAD: &str = LOAD;

    /// The statement that lists threads, for tests of its plan.
    #[doc(hidden)]
    #[must_use]
    pub fn list_sql(filter: &Filter) -> String {
        Filters { now: NOW, elements: ELEMENTS, namespace: "", filter }.threads().sql
    }

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

    /// Returns a handle of another namespace of the same file. The first one is `default`. A handle
    /// reads and writes nothing of another namespace.
    ///
    /// # Errors
    /// [`NameError`] if the name is empty, longer than 512 bytes, or has a NUL character.
    pub fn namespace(&self, name: impl Into<Arc<str>>) -> Result<Self, NameError> {
        let namespace = name.into();
        check_name("name of the namespace", &namespace)?;
        Ok(Self { connections: self.connections.clone(), namespace })
    }

    pub(super) fn of(connections: Arc<Connections>) -> Self {
        Self { connections, namespace: "default".into() }
    }

    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Returns the namespace.
    pub(super) fn name(&self) -> &str {
        &self.namespace
    }

    /// Runs an operation that writes.
    fn write<'a, T: Send + 'a>(
        &'a self,
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        if self.connections.is_read_only {
            let place = self.connections.place.to_string();
            return Box::pin(ready(Err(StoreError::ReadOnly { place })));
        }
        Box::pin(operation)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.connections.path)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl Steps for SqliteStore {
    fn acquire<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, Acquired> {
        self.write(self.acquire_thread(thread, owner))
    }

    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()> {
        self.write(self.withdraw_request(thread, owner))
    }

    fn freed<'a>(&'a self, _: &'a ThreadKey) -> BoxFuture<'a, ()> {
        Box::pin(tokio::time::sleep(ASK_AGAIN))
    }

    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord> {
        Box::pin(self.load_thread(lease))
    }

    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()> {
        self.write(self.commit_step(lease, step))
    }

    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>> {
        self.write(self.renew_leases(leases))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.write(self.release_lease(lease))
    }

    fn lease_time(&self) -> Duration {
        self.connections.lease_time
    }
}

impl Store for SqliteStore {
    fn backend(&self) -> Backend {
        Backend::Steps(Arc::new(self.clone()))
    }

    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
        Box::pin(async move { self.questions(&filter).await })
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        self.write(self.decide_all(verdicts))
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        self.write(self.refuse_expired())
    }

    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
        Box::pin(async move { self.thread_list(&filter).await })
    }

    fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
        Box::pin(self.all_messages(thread))
    }

    fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
        Box::pin(self.all_values(thread))
    }

    fn import<'a>(
        &'a self,
        thread: &'a ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> StoreFuture<'a, ()> {
        self.write(self.import_thread(thread, rows, values, user))
    }

    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.write(async move { self.forget_threads(&filter).await })
    }

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.write(async move { self.prune_threads(&filter).await })
    }

    fn report(&self) -> StoreFuture<'_, StoreReport> {
        Box::pin(self.count_rows())
    }
}
