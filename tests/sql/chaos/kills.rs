//! The processes of the chaos, which are killed at random times.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use futures::future::join_all;
use hooks_fixtures::tell;

use crate::chaos::check::{Report, check};
use crate::chaos::cluster::Cluster;
use crate::chaos::weather::Weather;
use crate::chaos::worker::{CLERK, Job, tasks};
use crate::kills::{LEASE, Place, Process, WorkerJob};
use crate::open::{address, history, open};

/// How many processes are killed; `HOOKS_CHAOS` says otherwise.
const KILLS: usize = 16;

/// How many threads there are, each with its own processes.
const THREADS: usize = 4;

/// How many calls of the model a process makes at most, in its life, which has so many pauses.
const CALLS: usize = 50;

/// A process lives at most this long after it has opened the store.
const LONGEST_LIFE: Duration = Duration::from_millis(900);

/// How long the last process of a thread may work.
const IN_TIME: Duration = Duration::from_mins(3);

/// Kills processes that work on a thread.
async fn kill(place: &Place, number: usize, kills: usize) -> Job {
    let thread = format!("chaos-{number}");
    // So many that the counter never ends before the last kill.
    let most = kills * CALLS;
    let job = Job { place: place.clone(), thread, tasks: usize::MAX, most };
    for _ in 0..kills {
        let mut process = Process::start(&WorkerJob::Chaos(job.clone()));
        let life = RandomState::new().hash_one(number) % 1000;
        let life = LONGEST_LIFE * u32::try_from(life).unwrap() / 1000;
        // It may not reach the store before it is killed.
        let _ = tokio::time::timeout(LONGEST_LIFE * 4, process.says("ready")).await;
        let ended = tokio::time::timeout(life, process.says("never")).await;
        assert!(ended.is_err(), "it works until it is killed");
        process.kill().await;
    }
    job
}

/// Lets a process end the tasks of a thread, and checks what all have left.
async fn end(place: &Place, mut job: Job, kills: usize) -> Report {
    let store = open(&place.address, LEASE).await;
    job.tasks = tasks(&history(&*store, &job.key(CLERK)).await.unwrap()).len().max(1);
    let last = Process::start(&WorkerJob::Chaos(job.clone()));
    let ended = tokio::time::timeout(IN_TIME, last.ended()).await;
    let errors = std::fs::read_to_string(job.file("errors")).unwrap_or_default();
    assert!(ended.is_ok_and(|status| status.success()), "{job:?} does not end: {errors}");
    Report { kills, ..check(&*store, &job).await }
}

async fn chaos(place: &Place, mut weather: Option<Weather>) {
    let kills = std::env::var("HOOKS_CHAOS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (each, begun) = (kills.div_ceil(THREADS), Instant::now());
    let killed = join_all((0..THREADS).map(|number| kill(place, number, each)));
    let (jobs, weather) = match &mut weather {
        None => (killed.await, String::new()),
        Some(weather) => {
            let jobs = tokio::select! {
                jobs = killed => jobs,
                () = weather.change() => unreachable!("the weather changes for ever"),
            };
            (jobs, format!(", {}", weather.clear().await))
        }
    };
    let mut total = Report::default();
    for job in jobs {
        total.add(&end(place, job, each).await);
    }
    tell(format!("chaos: {total:?}{weather}, {:.0?}", begun.elapsed()));
    assert!(total.kills >= kills && total.called > 0);
}

#[tokio::test]
async fn chaos_on_a_file_loses_no_decision_no_message_and_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { address: address(folder.path()), folder: folder.path().to_owned() };
    chaos(&place, None).await;
}

#[tokio::test]
async fn chaos_on_a_server_that_fails_too_loses_no_decision_no_message_and_no_limit() {
    let Some(cluster) = Cluster::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let weather = Weather::over(cluster).await;
    let place = Place { address: weather.address(), folder: folder.path().to_owned() };
    chaos(&place, Some(weather)).await;
}
