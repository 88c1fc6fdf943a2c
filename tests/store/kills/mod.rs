//! Processes that are killed and stopped while they run calls on one store.
//!
//! A process is this test binary, which runs the test `worker` with a job.

mod moments;
mod owners;
mod process;
mod random;
mod report;
mod stopped;
mod tasks;
mod worker;

pub(crate) use tasks::LEASE;
