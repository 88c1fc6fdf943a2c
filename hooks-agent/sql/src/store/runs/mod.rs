//! Runs that are kept: written and removed under a lock of the namespace, so that each is counted once.

mod add;
mod differences;
mod filter;
mod history;
mod read;
mod remove;
mod statements;

pub(crate) use remove::{RunsOf, in_batches};
pub use statements::RunStatements;
pub(crate) use statements::run_statements;
