//! A run of the agent: admits the messages of a call, reasons and acts in turns, and ensures that
//! memory is valid however it ends.

mod act;
mod admission;
pub(super) mod ask;
pub(super) mod batch;
pub(super) mod decided;
mod draft;
mod hear;
mod questions;
mod request;
mod rounds;
mod specs;
mod summary;
mod unfinished;
mod watch;
