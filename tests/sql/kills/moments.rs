//! A process is killed at each moment of a call.

use futures::future::join_all;

use hooks_fixtures::tell;

use crate::kills::process::Process;
use crate::kills::report::{Report, check};
use crate::kills::tasks::{Death, DeathAt, Job, LEASE};
use crate::kills::worker::{self, Place};
use crate::open::open;

/// Kills a process at the first, the second, .. moment of a kind, until one ends before it, and lets
/// another one go on.
async fn each(place: &Place, at: DeathAt, after: bool, at_once: bool) -> Report {
    let store = open(&place.address, LEASE).await;
    let mut report = Report::default();
    for number in 1.. {
        let thread = format!("{at:?}-{number}-{after}-{at_once}");
        let death = Some(Death { at, number, after });
        let mut job = Job { place: place.clone(), thread, tasks: 2, at_once, death };
        let first = Process::start(&worker::Job::Tasks(job.clone())).ended().await;
        if first.success() {
            return report;
        }
        assert_eq!(first.code(), None, "it was killed, and did not fail");
        report.kills += 1;
        job.death = None;
        assert!(Process::start(&worker::Job::Tasks(job.clone())).ended().await.success());
        report.add(&check(&*store, &job).await);
    }
    report
}

async fn ds_08_a_process_that_is_killed_at_any_moment_leaves_a_thread_that_goes_on(place: &Place) {
    let mut kinds = Vec::new();
    for at_once in [false, true] {
        for after in [false, true] {
            kinds.push(each(place, DeathAt::Commit, after, at_once));
            kinds.push(each(place, DeathAt::Tool, after, at_once));
        }
    }
    let mut total = Report::default();
    for report in join_all(kinds).await {
        total.add(&report);
    }
    tell(format!("killed at each moment: {total:?}"));
    assert!(total.kills > 40 && total.takeovers > 0);
    assert!(total.repeated > 0 && total.unknown > 0);
}

on_each!(ds_08_a_process_that_is_killed_at_any_moment_leaves_a_thread_that_goes_on);
