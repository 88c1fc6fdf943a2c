//! The store in a PostgreSQL database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::BoxFuture;
use serde_json::{Map, Value};

use crate::run_id::RunId;
use crate::store::key::check_name;
use crate::store::postgres::connection::Connections;
use crate::store::postgres::listen::notified_name;
use crate::store::postgres::statements::LOAD;
use crate::store::{
    Acquired, Backend, Filter, HistoryRow, Lease, NameError, PostgresOptions, Step, Steps, Store,
    StoreError, StoreFuture, StoreReport, ThreadInfo, ThreadKey, ThreadRecord, Verdict, Waiting,
};

/// The store in a PostgreSQL database: for many workers. Requires feature `postgres`.
///
/// A clone is a handle of the same connections. One more connection listens for threads that are
/// released; the task that reads it ends when the last handle is dropped.
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::store::StoreError> {
/// use hooks_agent::store::{Filter, PostgresStore, Store};
///
/// let url = "postgres://clerk@db.example.com/agents?sslmode=verify-full";
/// let store = PostgresStore::connect(url).await?;
/// println!("{} questions wait", store.waiting(Filter::all()).await?.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore {
    connections: Arc<Connections>,
    namespace: Arc<str>,
}

impl PostgresStore {
    /// The statement that reads a thread, for tests of its plan.
    #[doc(hidden)]
    pub const LOAD: &str = LOAD;

    /// Connects to the database of this URL, with the default options, and brings its schema up to
    /// date. The URL says whether the connections are encrypted (`sslmode`). Its password is in no
    /// error and in no `Debug`.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the URL cannot be read, the user is refused or there is no such
    /// database; [`StoreError::Unavailable`] if the server cannot be reached;
    /// [`StoreError::NewerSchema`] if a newer program made the tables: they are left as they are.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::options().connect(url).await
    }

    /// Returns the options of a store, to change them and connect.
    pub fn options() -> PostgresOptions {
        PostgresOptions::new()
    }

    /// Returns a handle of another namespace of the same database. The first one is `default`. A handle
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
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl Steps for PostgresStore {
    fn acquire<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, Acquired> {
        Box::pin(self.acquire_thread(thread, owner))
    }

    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()> {
        Box::pin(self.withdraw_request(thread, owner))
    }

    fn freed<'a>(&'a self, thread: &'a ThreadKey) -> BoxFuture<'a, ()> {
        let name = notified_name(&self.namespace, thread);
        Box::pin(async move { self.connections.listener.released(&name).await })
    }

    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord> {
        Box::pin(self.load_thread(lease))
    }

    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()> {
        Box::pin(self.commit_step(lease, step))
    }

    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>> {
        Box::pin(self.renew_leases(leases))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(self.release_lease(lease))
    }

    fn lease_time(&self) -> Duration {
        self.connections.lease_time
    }
}

impl Store for PostgresStore {
    fn backend(&self) -> Backend {
        Backend::Steps(Arc::new(self.clone()))
    }

    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
        Box::pin(self.questions(filter))
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        Box::pin(self.decide_all(verdicts))
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        Box::pin(self.refuse_expired())
    }

    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
        Box::pin(self.thread_list(filter))
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
        Box::pin(self.import_thread(thread, rows, values, user))
    }

    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
        Box::pin(self.forget_threads(filter))
    }

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        Box::pin(self.prune_threads(filter))
    }

    fn report(&self) -> StoreFuture<'_, StoreReport> {
        Box::pin(self.count_rows())
    }
}
