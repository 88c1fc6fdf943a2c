//! The interface between agents and stores.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::BoxFuture;
use serde_json::{Map, Value};

use crate::run_id::RunId;
use crate::store::{
    Acquired, Filter, HistoryRow, Lease, Step, StoreError, ThreadInfo, ThreadKey, ThreadRecord,
    Verdict, Waiting,
};

/// The future of an operation of a store.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Where the threads of agents are kept, as programs and people see it: the questions that wait, the
/// decisions about them, the threads and what was said in them.
///
/// A store is a handle of one namespace; it reads and writes nothing of another. Dropping a future
/// of a store leaves the operation done or not done, never half done. Times are those of the store's
/// clock, never of the process.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    note = "stores are `MemoryStore`, `SqliteStore` (feature `sqlite`) and `PostgresStore` (feature `postgres`)"
)]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Returns how calls read and write threads.
    fn backend(&self) -> Backend;

    /// Returns the questions that wait for a decision, the oldest first; with
    /// [`decided`](Filter::decided), those that are decided and whose thread was not resumed since.
    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>>;

    /// Stores decisions: all of them, or none.
    ///
    /// # Errors
    /// [`StoreError::Decision`] as [`review`](crate::store::review) finds it.
    fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()>;

    /// Decides questions that have expired: they are refused. Returns how many.
    fn expire(&self) -> StoreFuture<'_, u64>;

    /// Returns the threads.
    fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>>;

    /// Returns all messages of a thread, also those that were replaced, by sequence number. None if
    /// there is no such thread.
    fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>>;

    /// Returns the values that hooks keep with a thread, by name.
    fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>>;

    /// Writes the rows of a thread that there is not, with its values: the thread of an export.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if there is such a thread.
    fn import<'a>(
        &'a self,
        thread: &'a ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
    ) -> StoreFuture<'a, ()>;

    /// Removes threads with everything that belongs to them, and returns how many. A thread that a
    /// call owns now stays.
    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64>;
}

/// How calls read and write the threads of a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// The threads are in the memory of the process.
    #[doc(hidden)]
    InProcess(Arc<dyn Any + Send + Sync>),
    /// Calls load threads and write them step by step.
    Steps(Arc<dyn Steps>),
}

/// How calls read and write threads that are outside of the process.
pub trait Steps: fmt::Debug + Send + Sync + 'static {
    /// Requests the lease of a thread for a call. Begins the thread if there is none.
    ///
    /// Grants it if nobody owns the thread, or if the time of the owner's lease is over; the fencing
    /// number is then one more than that of every earlier owner. A call that is refused is noted as
    /// waiting for a few seconds, and whoever waits longer is first: the caller repeats the request
    /// after [`freed`](Self::freed).
    fn acquire<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, Acquired>;

    /// Withdraws the request of a call that no longer waits; releases the lease if it was granted.
    fn withdraw<'a>(&'a self, thread: &'a ThreadKey, owner: RunId) -> StoreFuture<'a, ()>;

    /// Waits until the thread may be free: until its owner releases it, if the store hears of it, and
    /// not longer than a second. It ends at most four times a second without a reason.
    fn freed<'a>(&'a self, thread: &'a ThreadKey) -> BoxFuture<'a, ()>;

    /// Reads a thread that the call owns.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the lease is not that of the owner.
    fn load<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ThreadRecord>;

    /// Writes one step in one transaction.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another call owns the thread, [`StoreError::Conflict`] if its
    /// version is another one. Nothing is written then. A lease whose time is over is still good while
    /// nobody else took it.
    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()>;

    /// Renews leases by [`lease_time`](Self::lease_time) from now. Returns those that are lost.
    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>>;

    /// Ends a lease. Does nothing if it is lost.
    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Returns how long a lease lasts without being renewed.
    fn lease_time(&self) -> Duration;
}

macro_rules! forward {
    ($($pointer:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S: Store + ?Sized> Store for $pointer<S> {
            fn backend(&self) -> Backend {
                (**self).backend()
            }

            fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
                (**self).waiting(filter)
            }

            fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
                (**self).decide(verdicts)
            }

            fn expire(&self) -> StoreFuture<'_, u64> {
                (**self).expire()
            }

            fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
                (**self).threads(filter)
            }

            fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
                (**self).history(thread)
            }

            fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
                (**self).values(thread)
            }

            fn import<'a>(
                &'a self,
                thread: &'a ThreadKey,
                rows: Vec<HistoryRow>,
                values: Map<String, Value>,
            ) -> StoreFuture<'a, ()> {
                (**self).import(thread, rows, values)
            }

            fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
                (**self).forget(filter)
            }
        }
    )*};
}

forward!(Arc, Box);
