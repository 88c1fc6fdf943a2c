//! A process is killed at random times.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use futures::future::join_all;
use hooks_agent_core::message::Role;

use hooks_fixtures::tell;

use crate::kills::process::Process;
use crate::kills::report::{Report, check};
use crate::kills::tasks::{Job, LEASE};
use crate::kills::worker::{self, Place};
use crate::open::{messages, open};

/// How many processes are killed; `HOOKS_KILLS` says otherwise.
const KILLS: usize = 40;

/// How many threads there are, each with its own processes.
const THREADS: usize = 4;

/// A process lives at most this long after it owns its thread.
const LONGEST_LIFE: Duration = Duration::from_millis(120);

async fn kill(place: &Place, number: usize, kills: usize) -> Report {
    let store = open(&place.address, LEASE).await;
    let thread = format!("random-{number}");
    let at_once = number.is_multiple_of(2);
    let mut job = Job { place: place.clone(), thread, tasks: usize::MAX, at_once, death: None };
    for _ in 0..kills {
        let mut process = Process::start(&worker::Job::Tasks(job.clone()));
        process.says("ready").await.expect("it works until it is killed");
        let life = RandomState::new().hash_one(number) % 1000;
        let life = LONGEST_LIFE * u32::try_from(life).unwrap() / 1000;
        let ended = tokio::time::timeout(life, process.says("never")).await;
        assert!(ended.is_err(), "it works until it is killed");
        process.kill().await;
    }
    let admitted = messages(&*store, &job.key()).await;
    let is_task = |role, text: String| role == Role::User && !text.is_empty();
    let admitted = admitted.iter().filter(|msg| is_task(msg.role, msg.text())).count();
    job.tasks = admitted.max(1);
    assert!(Process::start(&worker::Job::Tasks(job.clone())).ended().await.success());
    Report { kills, ..check(&*store, &job).await }
}

async fn ds_08_a_process_that_is_killed_at_random_times_leaves_a_thread_that_goes_on(
    place: &Place,
) {
    let kills = std::env::var("HOOKS_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let each = |number| kill(place, number, kills.div_ceil(THREADS));
    let mut total = Report::default();
    for report in join_all((0..THREADS).map(each)).await {
        total.add(&report);
    }
    tell(format!("killed at random times: {total:?}"));
    assert!(total.kills >= kills && total.takeovers > 0);
}

on_each!(ds_08_a_process_that_is_killed_at_random_times_leaves_a_thread_that_goes_on);
