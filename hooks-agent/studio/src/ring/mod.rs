//! A bounded buffer of runs; the oldest goes first. A call that adds to it takes the lock of its own run and
//! never waits for a reader; a reader takes the entries that are new to it, by number.

mod bell;
mod buffer;
mod capacity;
mod counters;
mod log;
mod summary;
mod table;
mod written;

pub(super) use buffer::{Batch, Reading, Ring, RunTree};
pub(super) use capacity::Capacity;
pub(super) use counters::now;
pub(super) use log::{Item, Log};
pub(super) use summary::{ModelUse, RunState, RunSummary};
pub(super) use written::Written;
