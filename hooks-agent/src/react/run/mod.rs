//! A run of the agent: admits the messages of a call, reasons and acts in turns, and ensures that
//! memory is valid however it ends.

mod act;
mod admission;
pub(super) mod ask;
pub(super) mod batch;
mod draft;
mod request;
mod rounds;
mod summary;
mod unfinished;
mod watch;
