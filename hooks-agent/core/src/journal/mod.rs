//! Journals: the steps of a call are kept outside of the process, so that a durable engine finishes the
//! call when its process ends. [The guide] says what holds when.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html

mod contract;
mod end;
pub(crate) mod failure;
mod in_memory;
mod key;
pub(crate) mod record;
mod scope;
mod threads;

pub use crate::error::journal::JournalError;
pub use contract::{Journal, JournalFuture, JournalStep, Ticket};
pub use end::CallEnd;
pub use in_memory::MemoryJournal;
pub use key::{StepKey, StepKind};
pub use record::StepRecord;
pub(crate) use scope::JournalScope;
