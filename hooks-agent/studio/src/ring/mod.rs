//! A bounded buffer of runs; the oldest goes first. A call that adds to it takes a short lock and
//! never waits for a reader; a reader takes the entries that are new to it, by number.

mod buffer;
mod capacity;
mod kept;
mod run;
mod state;
mod text;

pub(super) use buffer::{Batch, Ring, RunTree, now};
pub(super) use capacity::Capacity;
pub(super) use kept::{EntryKind, NewEntry};
pub(super) use run::{RunHead, RunState, RunSummary};
pub(super) use text::Text;
