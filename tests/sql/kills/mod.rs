//! Processes that are killed and stopped while they run calls on one store.
//!
//! A process is this test binary, which runs the test `worker` with a job.

/// Declares a test on a file, and one on a server where there is one.
macro_rules! on_each {
    ($name:ident) => {
        mod sqlite {
            #[tokio::test]
            async fn $name() {
                let folder = tempfile::tempdir().unwrap();
                let address = crate::open::address(folder.path());
                let place = super::Place { address, folder: folder.path().to_owned() };
                super::$name(&place).await;
            }
        }

        mod postgres {
            #[tokio::test]
            async fn $name() {
                let Some(server) = crate::backend::postgres().await else { return };
                let folder = tempfile::tempdir().unwrap();
                let address = crate::open::address_on(&server);
                let place = super::Place { address, folder: folder.path().to_owned() };
                super::$name(&place).await;
            }
        }
    };
}

mod guarded;
mod moments;
mod owners;
mod process;
mod quotas;
mod random;
mod report;
mod stopped;
mod tasks;
mod worker;

pub(crate) use process::Process;
pub(crate) use tasks::{LEASE, append};
pub(crate) use worker::{Job as WorkerJob, Place};
