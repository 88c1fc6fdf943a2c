//! Jobs of the processes that a test starts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::chaos;
use crate::kills::{guarded, owners, quotas, stopped, tasks};

/// The variable with the job of a process.
pub(crate) const JOB: &str = "HOOKS_WORKER_JOB";

/// The job of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    Tasks(tasks::Job),
    Visits(owners::Job),
    Hold(stopped::Job),
    Chaos(chaos::worker::Job),
    Guarded(guarded::Job),
    Spending(quotas::Job),
}

/// Where processes work together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The address of the store.
    pub(crate) address: String,
    /// Where tools write.
    pub(crate) folder: PathBuf,
}

/// Does a job, in a process that a test started; else nothing.
#[test]
fn worker() {
    let Ok(job) = std::env::var(JOB) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match serde_json::from_str(&job).unwrap() {
            Job::Tasks(job) => tasks::work(job).await,
            Job::Visits(job) => owners::work(job).await,
            Job::Hold(job) => stopped::work(job).await,
            Job::Chaos(job) => chaos::worker::work(job).await,
            Job::Guarded(job) => guarded::work(job).await,
            Job::Spending(job) => quotas::work(job).await,
        }
    });
}
