//! The interface between agents and stores.

use std::any::Any;
use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hooks_core::BoxFuture;
use serde_json::{Map, Value};

use crate::identity::User;
use crate::message::{Msg, unanswered_tool_uses};
use crate::run_id::RunId;
use crate::store::claim::Claim;
use crate::store::error::StoreError;
use crate::store::filter::Filter;
use crate::store::inbox::{InboxMessage, Steered};
use crate::store::key::ThreadKey;
use crate::store::lease::{Acquired, Lease};
use crate::store::people::{Approval, Verdict, Waiting};
use crate::store::quota::{QuotaUse, Reservation, Window};
use crate::store::record::{HistoryRow, ThreadInfo, ThreadRecord};
use crate::store::report::StoreReport;
use crate::store::runs::RunHistory;
use crate::store::step::Step;

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
    note = "stores are `MemoryStore`, `SqliteStore::open(path).await?` (feature `sqlite`) and \
            `PostgresStore::connect(url).await?` (feature `postgres`)"
)]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Returns how calls read and write threads.
    fn backend(&self) -> Backend;

    /// Returns the questions that wait for a decision, the oldest first; with
    /// [`decided`](Filter::decided), those that are decided and whose thread was not resumed since.
    fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>>;

    /// Stores decisions, and the approvals that they [remember](Verdict::remember): all of them, or none.
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

    /// Writes the rows of a thread that there is not, with its values and its user: the thread of an
    /// [export](crate::store::import). Of the rows, only the numbers are checked.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if there is such a thread.
    fn import<'a>(
        &'a self,
        thread: &'a ThreadKey,
        rows: Vec<HistoryRow>,
        values: Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> StoreFuture<'a, ()>;

    /// Removes threads with everything that belongs to them, and returns how many: also those of their
    /// sub-agents in this namespace, which count and are not part of the limit. A thread that a call owns
    /// now stays, and one of whose sub-agents' threads a call owns or, of an age, is too new. With a thread go
    /// the approvals for it, and with a [user](Filter::is_of_user) those for calls of the user; and
    /// [runs](Self::run_history), also those of the filter whose threads the store does not have.
    fn forget(&self, filter: Filter) -> StoreFuture<'_, u64>;

    /// Removes the history of threads, and returns how many rows: messages that were replaced, tool
    /// calls that are answered and questions that are closed. Conversations stay as they are; a second
    /// decision about a question that is gone is
    /// [unknown](crate::store::DecisionError::Unknown). The limit of the filter is one of threads. With
    /// a filter that [names nothing](Filter::is_of_namespace), also what was used of quotas and counts no
    /// longer, and approvals that answer nothing any more. [Runs](Self::run_history) are history: those of the
    /// threads go, and those of the filter whose threads the store does not have; those of threads with open
    /// questions stay.
    fn prune(&self, filter: Filter) -> StoreFuture<'_, u64>;

    /// Counts what the store has. Reads all of the namespace.
    fn report(&self) -> StoreFuture<'_, StoreReport> {
        Box::pin(count(self))
    }

    /// Reserves of quotas: all of it, or nothing. A key that has reserved of a quota of a subject reserves
    /// nothing more. Reservations for the same subject of a quota wait for each other, so that no two of them
    /// find the same room.
    ///
    /// Returns what takes it back by [`settle`](Self::settle): what each key had before that has reserved
    /// something now. A key that had reserved as much is not among it, also if the answer to that was lost:
    /// what it has reserved may have been used.
    ///
    /// # Errors
    /// [`StoreError::Quota`] as [`admit`](crate::store::admit) finds it. A store that keeps no quotas, which
    /// is what the trait provides, refuses with [`StoreError::NoQuotas`].
    fn reserve(&self, reservations: Vec<Reservation>) -> StoreFuture<'_, Vec<Reservation>> {
        drop(reservations);
        Box::pin(ready(Err(StoreError::NoQuotas)))
    }

    /// Sets what was used of what was reserved: the amount of each key. It may be more than there was room
    /// for. A key that has reserved nothing is left out.
    ///
    /// # Errors
    /// [`StoreError::NoQuotas`].
    fn settle(&self, used: Vec<Reservation>) -> StoreFuture<'_, ()> {
        drop(used);
        Box::pin(ready(Err(StoreError::NoQuotas)))
    }

    /// Returns what each subject has used of a quota in a window, by subject. Those that have used nothing
    /// are left out.
    ///
    /// # Errors
    /// [`StoreError::NoQuotas`].
    fn quota_uses<'a>(
        &'a self,
        quota: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Vec<QuotaUse>> {
        let _ = (quota, window);
        Box::pin(ready(Err(StoreError::NoQuotas)))
    }

    /// Puts a message into the inbox of a thread: the call that runs on it takes it, or the next one. A `key` puts
    /// one message there, however often it comes.
    ///
    /// # Errors
    /// [`StoreError::UnknownThread`]; [`StoreError::OtherUser`] if the [claim](Claim::allows) is not allowed;
    /// [`StoreError::NoInbox`], which is what the trait provides.
    fn steer<'a>(
        &'a self,
        thread: &'a ThreadKey,
        claim: &'a Claim,
        key: Arc<str>,
        message: Msg,
    ) -> StoreFuture<'a, Steered> {
        let _ = (thread, claim);
        drop((key, message));
        Box::pin(ready(Err(StoreError::NoInbox)))
    }

    /// Returns the [approvals](Approval) that are remembered, also those that are used up, expired or revoked and
    /// not [pruned](Self::prune) yet, the oldest first.
    ///
    /// # Errors
    /// [`StoreError::NoApprovals`], which is what the trait provides: a store that remembers none refuses a
    /// [decision](Self::decide) that says so too.
    fn approvals(&self, filter: Filter) -> StoreFuture<'_, Vec<Approval>> {
        drop(filter);
        Box::pin(ready(Err(StoreError::NoApprovals)))
    }

    /// Decides questions of these ids that remembered approvals [answer](crate::store::recall), and counts what
    /// is used of them in the same transaction. Returns the questions that approvals have decided and that are
    /// not closed, those of an earlier request too.
    ///
    /// # Errors
    /// [`StoreError::NoApprovals`].
    fn recall(&self, questions: Vec<Arc<str>>) -> StoreFuture<'_, Vec<Waiting>> {
        drop(questions);
        Box::pin(ready(Err(StoreError::NoApprovals)))
    }

    /// Ends a remembered approval: it answers no question from now on. What it has answered stays decided.
    /// Returns whether there was one of this id that nobody had revoked.
    ///
    /// # Errors
    /// [`StoreError::NoApprovals`].
    fn revoke<'a>(&'a self, id: &'a str, by: &'a User) -> StoreFuture<'a, bool> {
        let _ = (id, by);
        Box::pin(ready(Err(StoreError::NoApprovals)))
    }

    /// Returns the runs that the store keeps; none, which is what the trait provides, if it keeps no runs.
    fn run_history(&self) -> Option<&dyn RunHistory> {
        None
    }
}

/// Counts what a store has by listing it.
async fn count<S: Store + ?Sized>(store: &S) -> Result<StoreReport, StoreError> {
    let mut report = StoreReport::default();
    for thread in store.threads(Filter::all()).await? {
        report.threads += 1;
        report.cut_off += u64::from(thread.is_cut_off());
        let rows = store.history(&thread.key).await?;
        let mut live: Vec<_> = rows.iter().filter(|row| row.archived.is_none()).collect();
        live.sort_by_key(|row| (row.place, row.seq));
        report.messages += live.len() as u64;
        report.archived += (rows.len() - live.len()) as u64;
        let read = |row: &&HistoryRow| row.read(&thread.key);
        let messages: Vec<Msg> = live.iter().map(read).collect::<Result<_, _>>()?;
        report.unanswered += unanswered_tool_uses(&messages).len() as u64;
        report.values += store.values(&thread.key).await?.len() as u64;
    }
    let waiting = store.waiting(Filter::all()).await?;
    report.waiting = waiting.len() as u64;
    report.decided = store.waiting(Filter::all().decided()).await?.len() as u64;
    report.oldest_waiting = waiting.iter().map(|question| question.since).min().map(|since| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        now.saturating_sub(Duration::from_millis(since))
    });
    Ok(report)
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
    /// Requests the lease of a thread for a call. Begins the thread if there is none. In the same transaction
    /// it is checked whose the thread is, whether or not it is free: what the [claim](Claim::allows) does not
    /// allow is [refused](Acquired::OtherUser).
    ///
    /// Grants it if nobody owns the thread, or if the time of the owner's lease is over; the fencing
    /// number is then one more than that of every earlier owner. A call that is refused is noted as
    /// waiting for a few seconds, and whoever waits longer is first: the caller repeats the request
    /// after [`freed`](Self::freed).
    fn acquire<'a>(
        &'a self,
        thread: &'a ThreadKey,
        owner: RunId,
        claim: &'a Claim,
    ) -> StoreFuture<'a, Acquired>;

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

    /// Writes one step in one transaction, with what it [reserves](Step::reservations).
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another call owns the thread, [`StoreError::Conflict`] if its
    /// version is another one, [`StoreError::Quota`] if what it reserves is not left. Nothing is written then.
    /// A lease whose time is over is still good while nobody else took it.
    fn commit<'a>(&'a self, lease: &'a Lease, step: &'a Step) -> StoreFuture<'a, ()>;

    /// Renews leases by [`lease_time`](Self::lease_time) from now. Returns those that are lost.
    fn renew<'a>(&'a self, leases: &'a [Lease]) -> StoreFuture<'a, Vec<Lease>>;

    /// Returns the messages of the inbox that come after the number of the last one that calls have taken, in order.
    /// Those up to `stored` are not needed any more: a step that was written has them.
    ///
    /// # Errors
    /// [`StoreError::NoInbox`], which is what the trait provides.
    fn inbox<'a>(
        &'a self,
        lease: &'a Lease,
        after: u64,
        stored: u64,
    ) -> StoreFuture<'a, Vec<InboxMessage>> {
        let _ = (lease, after, stored);
        Box::pin(ready(Err(StoreError::NoInbox)))
    }

    /// Ends a lease. Does nothing if it is lost.
    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Returns how long a lease lasts without being renewed.
    fn lease_time(&self) -> Duration;

    /// Returns whether a commit makes the [reservations](Step::reservations) of its step. If not, which is
    /// what the trait provides, a step with reservations is refused before it comes to the store.
    fn keeps_quotas(&self) -> bool {
        false
    }
}
