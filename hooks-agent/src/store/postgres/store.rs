//! The store in a PostgreSQL database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::store::{
    Acquired, Backend, Filter, HistoryRow, Lease, NameError, Step, Steps, Store, StoreError,
    StoreFuture, StoreReport, ThreadInfo, ThreadKey, ThreadRecord, Verdict, Waiting, check_name,
};
use hooks_core::BoxFuture;
use serde_json::{Map, Value};

use crate::call::RunId;
use crate::store::postgres::connection::Connections;
use crate::store::postgres::listen::notified_name;
use crate::store::postgres::options::PostgresOptions;
use crate::store::postgres::statements::{ELEMENTS, LOAD, NOW};
use crate::store::sql::{Filters, again, named, random_id};

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

    /// The statement that lists threads, for tests of its plan.
    #[doc(hidden)]
    #[must_use]
    pub fn list_sql(filter: &Filter) -> String {
        Filters { now: NOW, elements: ELEMENTS, namespace: "", filter }.threads().sql
    }

    /// Connects to the database of this URL, with the default options. Makes the schema, or brings it up
    /// to date, if it is not; a database that is up to date is only read, so that the user needs no right
    /// to make tables. The URL says whether the connections are encrypted (`sslmode`). Its user and its
    /// password are in no error and in no `Debug`.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the URL cannot be read, the user is refused or there is no such
    /// database; [`StoreError::Unavailable`] if the server cannot be reached in time;
    /// [`StoreError::NewerSchema`] if a newer program made the tables: they are left as they are.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::options().connect(url).await
    }

    /// Connects to read alone, with the default options: on replicas too. See
    /// [`PostgresOptions::read_only`].
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect); [`StoreError::OlderSchema`] if the schema is not that of
    /// this program.
    pub async fn read_only(url: &str) -> Result<Self, StoreError> {
        Self::options().read_only().connect(url).await
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
        self.repeat("requesting the lease of a thread", Writes::Yes, move || {
            self.acquire_thread(thread, owner)
        })
    }

    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()> {
        self.repeat("withdrawing a request for a lease", Writes::Yes, move || {
            self.withdraw_request(thread, owner)
        })
    }

    fn freed<'a>(&'a self, thread: &'a ThreadKey) -> BoxFuture<'a, ()> {
        let name = notified_name(&self.namespace, thread);
        Box::pin(async move { self.connections.listener.released(&name).await })
    }

    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord> {
        self.repeat("loading a thread", Writes::No, move || self.load_thread(lease))
    }

    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()> {
        self.once("writing a step", self.commit_step(lease, step))
    }

    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>> {
        self.repeat("renewing leases", Writes::Yes, move || self.renew_leases(leases))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.repeat("releasing a lease", Writes::Yes, move || self.release_lease(lease))
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
        Box::pin(async move {
            self.repeat("listing questions", Writes::No, || self.questions(&filter)).await
        })
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let request = random_id();
            let decide = || self.decide_all(&verdicts, request);
            self.repeat("storing decisions", Writes::Yes, decide).await
        })
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        self.repeat("refusing questions that expired", Writes::Yes, || self.refuse_expired())
    }

    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
        Box::pin(async move {
            self.repeat("listing threads", Writes::No, || self.thread_list(&filter)).await
        })
    }

    fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
        self.repeat("reading a history", Writes::No, move || self.all_messages(thread))
    }

    fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
        self.repeat("reading values", Writes::No, move || self.all_values(thread))
    }

    fn import<'a>(
        &'a self,
        thread: &'a ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> StoreFuture<'a, ()> {
        self.once("importing a thread", self.import_thread(thread, rows, values, user))
    }

    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.repeat("forgetting threads", Writes::Yes, move || self.forget_threads(filter.clone()))
    }

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        self.repeat("pruning threads", Writes::Yes, move || self.prune_threads(filter.clone()))
    }

    fn report(&self) -> StoreFuture<'_, StoreReport> {
        self.repeat("counting rows", Writes::No, || self.count_rows())
    }
}

/// Whether an operation writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    Yes,
    No,
}

impl PostgresStore {
    /// Runs an operation that may be repeated: again, while the server is not available and the limit
    /// allows it.
    fn repeat<'a, T: Send + 'a, F>(
        &'a self,
        name: &'static str,
        writes: Writes,
        operation: impl FnMut() -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'a,
    {
        Box::pin(async move {
            self.check(writes)?;
            again(name, self.connections.statement.time(), operation).await
        })
    }

    /// Runs an operation that writes and is not repeated.
    fn once<'a, T: Send + 'a>(
        &'a self,
        name: &'static str,
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            self.check(Writes::Yes)?;
            operation.await.map_err(|error| named(name, error))
        })
    }

    fn check(&self, writes: Writes) -> Result<(), StoreError> {
        if writes == Writes::Yes && self.connections.is_read_only {
            return Err(StoreError::ReadOnly { place: self.connections.place.to_string() });
        }
        Ok(())
    }
}
