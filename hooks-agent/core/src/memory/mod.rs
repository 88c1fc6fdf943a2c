//! The memory of an agent: for each thread its messages, and the values that hooks keep with it.

mod asking;
mod conversation;
mod journal;
mod left;
mod owner;
mod place;
mod questions;
mod saved;
mod set_aside;
mod sub_threads;
mod value;
mod values;

pub(crate) use asking::{Answer, Asking, Confirmed, ConfirmedBy, Through, is_within};
pub use conversation::Memory;
pub(crate) use conversation::Rewound;
pub(crate) use journal::{Running, Served};
pub use value::ThreadValue;
pub use values::{ThreadValueError, ThreadValues};

use std::sync::Arc;

use hooks_core::BoxFuture;

use crate::store::{InboxMessage, Reservation, Store, StoreError};

/// Finds the memory of a thread, or begins the thread.
#[doc(hidden)]
pub trait FindMemory: Send + Sync {
    /// Returns the memory of the thread of this id; of the default thread, if there is no id.
    fn memory_of(&self, thread: Option<&Arc<str>>) -> Arc<Memory>;
}

/// Writes the thread of a call to its store.
pub(crate) trait SaveThread: Send + Sync {
    /// Writes what memory has and the store has not, if the durability of the agent says so for this
    /// moment.
    fn commit(&self, moment: Moment) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Writes the values that hooks keep with the thread, and nothing else, whatever the durability.
    fn commit_values(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Writes that a tool starts, unless it may start again, with what that reserves of quotas: all of it, or
    /// nothing of the step.
    fn start<'a>(
        &'a self,
        tool_call: &'a str,
        is_once: bool,
        reservations: Vec<Reservation>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the messages of the inbox that calls have not taken.
    fn inbox(&self) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>>;

    /// Returns the store.
    fn store(&self) -> &dyn Store;

    /// Returns whether the call goes on with one that was cut off.
    fn is_recovery(&self) -> bool;

    /// Returns whether the call that was cut off served the same tool call of another agent.
    fn continues(&self) -> bool;

    /// Notes that the call did its first new step.
    fn end_recovery(&self);
}

/// When a call commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A step was done.
    Step,
    /// Questions wait for people.
    Question,
}
