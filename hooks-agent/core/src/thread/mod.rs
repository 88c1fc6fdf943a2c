//! The threads of an agent: the queues of their calls, their memories, and how these come from a store
//! and go to it.

mod cut_off;
mod durable;
mod keeper;
mod leased;
mod line;
mod memory_store;
mod options;
mod rewind;
mod session;
mod threads;
mod turns;

pub(crate) use durable::Durable;
pub use memory_store::MemoryStore;
pub(crate) use options::StoreOptions;
pub(crate) use rewind::Rewind;
pub use rewind::RewindError;
pub(crate) use session::OpenSession;
pub use threads::Threads;
pub(crate) use turns::Turn;
