//! The trait `Journal`, which durable engines implement.

use std::fmt;

use hooks_core::BoxFuture;

use crate::error::journal::JournalError;
use crate::journal::end::CallEnd;
use crate::journal::key::StepKey;
use crate::journal::record::StepRecord;
use crate::store::{ThreadKey, ThreadRecord, Verdict, Waiting};

/// The future of a journal.
pub type JournalFuture<'a, T> = BoxFuture<'a, Result<T, JournalError>>;

/// Where the steps of one call are kept, so that the call survives its process: implemented for a
/// durable engine, and given to a call by [`CallOptions::journal`](crate::call::CallOptions::journal).
///
/// An engine runs the call again, from its beginning and with the same
/// [run id](crate::call::CallOptions::run_id), until [`end`](Self::end) has returned. Each run asks for the same
/// steps by the same [keys](StepKey). A step that an earlier run has completed is not run again: the call
/// gets what it came to. Steps are completed in any order: tools run at once.
///
/// | step | is |
/// |---|---|
/// | [`Model`](crate::journal::StepKind::Model) | one call of the model, with the hooks around it |
/// | [`Tool`](crate::journal::StepKind::Tool) | one tool that ran, with the hooks around it |
/// | [`Compression`](crate::journal::StepKind::Compression) | one compression of the conversation |
///
/// A record has what the hooks around the step made of it: what they redact is not in the journal.
/// Hooks of events run again in each run; [`CallContext::is_replaying`](crate::call::CallContext::is_replaying)
/// tells them.
///
/// An agent without a store outside of the process has its threads in the journal: a call
/// [loads](Self::load) them and hands them over at its [end](Self::end), those of sub-agents too.
///
/// Every error fails the call, at once and whatever its hooks do: the journal is not asked for anything
/// more, also not for its end, and the threads are as before. [`MemoryJournal`](crate::journal::MemoryJournal) is the smallest
/// implementation.
pub trait Journal: fmt::Debug + Send + Sync + 'static {
    /// Begins a step, or returns what it came to in an earlier run of the call.
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep>;

    /// Asks people, and returns when all questions are decided; the engine may end the process while
    /// it waits, and run the call again later. The ids of the questions are the same in each run.
    ///
    /// A decision is to be checked by [`review`](crate::store::review) when it is given: one that is
    /// refused here fails the call. Keep who decided with it: [`by`](Verdict::by) is not read from JSON, so an
    /// engine that stores decisions as JSON has a form of its own for it. A question that [expires](Waiting::expires_after) is decided by
    /// [`Verdict::expired`].
    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>>;

    /// Returns whether the call is still at what earlier runs have recorded.
    fn is_replaying(&self) -> bool;

    /// Returns whether another process may run the call again. Then what hooks keep in this process alone
    /// is [lost](crate::hook::AgentHook::ends_with_process), which agents report.
    fn outlives_process(&self) -> bool {
        true
    }

    /// Reads a thread as it was before the call, also if an earlier run has ended the call.
    fn load<'a>(&'a self, thread: &'a ThreadKey) -> JournalFuture<'a, ThreadRecord>;

    /// Keeps how the call ended and what it adds to its threads.
    fn end(&self, end: CallEnd) -> JournalFuture<'_, ()>;
}

/// The beginning of a step.
#[derive(Debug)]
pub enum JournalStep {
    /// It is to run.
    Run(Ticket),
    /// It ran.
    Replayed(StepRecord),
}

type Complete = Box<dyn FnOnce(StepRecord) -> JournalFuture<'static, ()> + Send>;

/// A step that runs. A ticket that is dropped leaves the step open: the next run of the call does it
/// again.
#[must_use = "a step without a record runs again"]
pub struct Ticket(Complete);

impl Ticket {
    /// Creates a ticket from what keeps the record of the step. Its future ends when the record is
    /// kept.
    pub fn new(
        complete: impl FnOnce(StepRecord) -> JournalFuture<'static, ()> + Send + 'static,
    ) -> Self {
        Self(Box::new(complete))
    }

    /// Keeps what the step came to.
    ///
    /// # Errors
    /// Those of the journal. The step may be kept or not.
    pub async fn complete(self, record: StepRecord) -> Result<(), JournalError> {
        (self.0)(record).await
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}
