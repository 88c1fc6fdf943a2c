//! Runs that are kept in a store, beyond the ring.

mod keep;
mod kept;
mod queue;
mod read;
mod resumed;

pub(super) use keep::keep;
pub(super) use queue::History;
pub(super) use read::{overview_of, tree_of};
