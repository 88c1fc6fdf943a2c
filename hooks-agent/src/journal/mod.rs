//! Journals: the steps of a call are kept outside of the process, so that a durable engine finishes the
//! call when its process ends. [The guide](crate::guide::journal) says what holds when.

mod contract;
mod end;
mod error;
mod failure;
mod hook;
mod in_memory;
mod key;
mod record;
mod recording;
mod scope;
mod stand_in;
mod threads;

pub use contract::{Journal, JournalFuture, JournalStep, Ticket};
pub use end::CallEnd;
pub use error::JournalError;
pub(crate) use hook::JournalHook;
pub use in_memory::MemoryJournal;
pub use key::{StepKey, StepKind};
pub use record::StepRecord;
pub(crate) use scope::JournalScope;
