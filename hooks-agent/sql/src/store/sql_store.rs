//! The store in a database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::call::{RunId, User};
use hooks_agent_core::message::Msg;
use hooks_agent_core::store::{
    Acquired, Approval, Backend, Claim, Filter, HistoryRow, InboxMessage, Lease, NameError,
    QuotaUse, Reservation, RunHistory, Steered, Step, Steps, Store, StoreError, StoreFuture,
    StoreReport, ThreadInfo, ThreadKey, ThreadRecord, Verdict, Waiting, Window, check_name,
};
use hooks_core::BoxFuture;
use serde_json::{Map, Value};

use crate::database::{Access, DatabaseError, Statement, random_id};
use crate::store::connections::Connections;
use crate::store::release::Releases;
use crate::store::retry::{again, named};
use crate::store::rows::Filters;
use crate::store::statements::Statements;

/// A store in an SQL database: [`SqliteStore`](crate::store::SqliteStore) or
/// [`PostgresStore`](crate::store::PostgresStore).
///
/// A clone is a handle of the same connections.
pub struct SqlStore<D: Statements> {
    connections: Arc<Connections<D>>,
    namespace: Arc<str>,
}

impl<D: Statements> SqlStore<D> {
    /// The statement that reads a thread, for tests of its plan.
    #[doc(hidden)]
    pub const LOAD: &str = D::LOAD;

    /// The statement that lists threads, for tests of its plan.
    #[doc(hidden)]
    #[must_use]
    pub fn list_sql(filter: &Filter) -> String {
        let filters = Filters { now: D::NOW, elements: D::ELEMENTS, namespace: "", filter };
        filters.threads().sql().to_owned()
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

    pub(crate) fn of(connections: Connections<D>) -> Self {
        Self { connections: Arc::new(connections), namespace: "default".into() }
    }

    pub(crate) fn connections(&self) -> &Connections<D> {
        &self.connections
    }

    /// Returns the namespace.
    pub(crate) fn name(&self) -> &str {
        &self.namespace
    }

    /// Runs a statement of a call and returns its rows.
    pub(crate) async fn fetch(
        &self,
        access: Access,
        statement: Statement<'_>,
    ) -> Result<Vec<D::Row>, DatabaseError> {
        let Connections { reader, writer, statement: limit, .. } = self.connections();
        let pool = if access == Access::Read { reader } else { writer };
        let mut conn = pool.get().await?;
        let rows = limit.run(D::fetch(&mut conn, statement)).await;
        conn.done(rows)
    }

    /// Runs a statement of a call that writes, and returns how many rows it changed.
    pub(crate) async fn execute(&self, statement: Statement<'_>) -> Result<u64, DatabaseError> {
        let mut conn = self.connections.writer.get().await?;
        let changed = self.connections.statement.run(D::execute(&mut conn, statement)).await;
        conn.done(changed)
    }

    /// Runs an operation that may be repeated: again, while the server is not available and the limit
    /// allows it.
    pub(crate) fn repeat<'a, T: Send + 'a, F>(
        &'a self,
        name: &'static str,
        access: Access,
        operation: impl FnMut() -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'a,
    {
        Box::pin(async move {
            self.check(access)?;
            again(name, self.connections.statement, operation).await
        })
    }

    /// Runs an operation that writes and is not repeated.
    fn once<'a, T: Send + 'a>(
        &'a self,
        name: &'static str,
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            self.check(Access::Write)?;
            operation.await.map_err(|error| named(name, error))
        })
    }

    fn check(&self, access: Access) -> Result<(), StoreError> {
        if access == Access::Write && self.connections.is_read_only {
            return Err(StoreError::ReadOnly { place: self.connections.place.to_string() });
        }
        Ok(())
    }
}

impl<D: Statements> Clone for SqlStore<D> {
    fn clone(&self) -> Self {
        Self { connections: self.connections.clone(), namespace: self.namespace.clone() }
    }
}

impl<D: Statements> fmt::Debug for SqlStore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlStore")
            .field("place", &format_args!("{}", self.connections.place))
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl<D: Statements> Steps for SqlStore<D> {
    fn acquire<'a>(
        &'a self,
        thread: &'a ThreadKey,
        owner: RunId,
        claim: &'a Claim,
    ) -> StoreFuture<'a, Acquired> {
        self.repeat("requesting the lease of a thread", Access::Write, move || {
            self.acquire_thread(thread, owner, claim)
        })
    }

    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()> {
        self.repeat("withdrawing a request for a lease", Access::Write, move || {
            self.withdraw_request(thread, owner)
        })
    }

    fn freed<'a>(&'a self, thread: &'a ThreadKey) -> BoxFuture<'a, ()> {
        self.connections.releases.released(&self.namespace, thread)
    }

    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord> {
        self.repeat("loading a thread", Access::Read, move || self.load_thread(lease))
    }

    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()> {
        self.once("writing a step", self.commit_step(lease, step))
    }

    fn inbox<'a>(
        &'a self,
        lease: &'a Lease,
        after: u64,
        stored: u64,
    ) -> StoreFuture<'a, Vec<InboxMessage>> {
        self.repeat("reading an inbox", Access::Write, move || {
            self.read_inbox(lease, after, stored)
        })
    }

    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>> {
        self.repeat("renewing leases", Access::Write, move || self.renew_leases(leases))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.repeat("releasing a lease", Access::Write, move || self.release_lease(lease))
    }

    fn lease_time(&self) -> Duration {
        self.connections.lease_time
    }

    fn keeps_quotas(&self) -> bool {
        true
    }
}

impl<D: Statements> Store for SqlStore<D> {
    fn backend(&self) -> Backend {
        Backend::Steps(Arc::new(self.clone()))
    }

    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
        Box::pin(async move {
            self.repeat("listing questions", Access::Read, || self.questions(&filter)).await
        })
    }

    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let request = random_id();
            let decide = || self.decide_all(&verdicts, request);
            self.repeat("storing decisions", Access::Write, decide).await
        })
    }

    fn expire(&self) -> StoreFuture<'_, u64> {
        self.repeat("refusing questions that expired", Access::Write, || self.refuse_expired())
    }

    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
        Box::pin(async move {
            self.repeat("listing threads", Access::Read, || self.thread_list(&filter)).await
        })
    }

    fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
        self.repeat("reading a history", Access::Read, move || self.all_messages(thread))
    }

    fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
        self.repeat("reading values", Access::Read, move || self.all_values(thread))
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
        Box::pin(self.forget_threads(filter))
    }

    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
        Box::pin(self.prune_threads(filter))
    }

    fn report(&self) -> StoreFuture<'_, StoreReport> {
        self.repeat("counting rows", Access::Read, || self.count_rows())
    }

    fn reserve(&self, reservations: Vec<Reservation>) -> StoreFuture<'_, Vec<Reservation>> {
        Box::pin(async move {
            let reserve = || self.reserve_quotas(&reservations);
            self.repeat("reserving of quotas", Access::Write, reserve).await
        })
    }

    fn settle(&self, used: Vec<Reservation>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let settle = || self.settle_quotas(&used);
            self.repeat("counting what was used", Access::Write, settle).await
        })
    }

    fn quota_uses<'a>(
        &'a self,
        quota: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Vec<QuotaUse>> {
        self.repeat("reading what was used", Access::Read, move || self.uses_of(quota, window))
    }

    fn steer<'a>(
        &'a self,
        thread: &'a ThreadKey,
        claim: &'a Claim,
        key: Arc<str>,
        message: Msg,
    ) -> StoreFuture<'a, Steered> {
        Box::pin(async move {
            let put = || self.put_into_inbox(thread, claim, &key, &message);
            self.repeat("saying something to a call", Access::Write, put).await
        })
    }

    fn approvals(&self, filter: Filter) -> StoreFuture<'_, Vec<Approval>> {
        Box::pin(async move {
            self.repeat("listing approvals", Access::Read, || self.approval_list(&filter)).await
        })
    }

    fn recall(&self, questions: Vec<Arc<str>>) -> StoreFuture<'_, Vec<Waiting>> {
        Box::pin(async move {
            let request = random_id();
            let recall = || self.recall_questions(&questions, request);
            self.repeat("answering by approvals", Access::Write, recall).await
        })
    }

    fn revoke<'a>(&'a self, id: &'a str, by: &'a User) -> StoreFuture<'a, bool> {
        self.repeat("revoking an approval", Access::Write, move || self.revoke_approval(id, by))
    }

    fn run_history(&self) -> Option<&dyn RunHistory> {
        Some(self)
    }
}
