//! Two processes with one index, and processes that are killed while they write.
//!
//! A process is this test binary, which runs the test `worker` with a folder.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use hooks_agent_knowledge::{Knowledge, TextIndex};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::text_index::Place;

/// The variable with the folder of documents and that of the index.
const JOB: &str = "HOOKS_KNOWLEDGE_JOB";

/// How many documents there are.
const DOCUMENTS: usize = 400;

fn start(place: &Place) -> Child {
    let job = format!("{}\n{}", place.documents().display(), place.index().display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "text_index::processes::worker", "--nocapture"])
        .env(JOB, job)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn worker() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (documents, index) = job.split_once('\n').unwrap();
    println!("\nstarted");
    let index = TextIndex::open(PathBuf::from(documents), PathBuf::from(index)).await.unwrap();
    println!("passages {}", index.passages().await.unwrap());
}

/// Waits for the line that begins so.
async fn says(child: &mut Child, beginning: &str) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.starts_with(beginning) {
            return;
        }
    }
}

fn documents() -> Place {
    let place = Place::new(&[]);
    for n in 0..DOCUMENTS {
        place.write(&format!("{n}.md"), format!("document{n} {}", "apples ".repeat(n % 50)));
    }
    place
}

/// The files of segments that are there now.
fn segments(index: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(index) else { return 0 };
    entries.filter_map(Result::ok).filter(|it| it.file_name().to_string_lossy().len() > 32).count()
}

#[tokio::test]
async fn processes_that_are_killed_while_they_index_leave_an_index_that_goes_on() {
    let place = documents();
    let mut killed = 0;
    for moment in 0..12 {
        let mut child = start(&place);
        says(&mut child, "started").await;
        // A later moment each time: after so many looks at the folder.
        for _ in 0..moment * 40 {
            segments(&place.index());
            tokio::task::yield_now().await;
        }
        let ended = child.try_wait().unwrap();
        child.kill().await.unwrap();
        killed += usize::from(ended.is_none());
        let searching = TextIndex::builder(place.documents(), place.index()).search_only();
        let searching = searching.open().await.unwrap();
        searching.search("apples", 5).await.unwrap();
        if moment % 4 == 3 {
            place.write("0.md", format!("document0 changed {moment}"));
        }
    }
    println!("killed {killed} processes while they indexed");
    let index = place.open().await;
    assert_eq!(index.passages().await.unwrap(), DOCUMENTS as u64);
    for n in [0, 7, DOCUMENTS - 1] {
        let found = index.search(&format!("document{n}"), 5).await.unwrap();
        assert_eq!(found[0].source, format!("{n}.md"));
    }
}

#[tokio::test]
async fn what_was_committed_survives_a_kill() {
    let place = documents();
    place.open().await;
    for n in 0..DOCUMENTS {
        place.write(&format!("{n}.md"), format!("document{n} pears"));
    }
    let mut child = start(&place);
    says(&mut child, "started").await;
    child.kill().await.unwrap();
    let index = TextIndex::builder(place.documents(), place.index()).search_only();
    let index = index.open().await.unwrap();
    assert_eq!(index.passages().await.unwrap(), DOCUMENTS as u64);
    index.refresh().await.unwrap();
    assert_eq!(index.search("pears", 1000).await.unwrap().len(), DOCUMENTS);
}

#[tokio::test]
async fn two_processes_that_index_at_once_index_once() {
    let place = documents();
    let (mut one, mut other) = (start(&place), start(&place));
    let (one, other) = futures::join!(one.wait(), other.wait());
    assert!(one.unwrap().success() && other.unwrap().success());
    let index = place.open().await;
    assert_eq!(index.refresh().await.unwrap().unchanged, DOCUMENTS);
    assert_eq!(index.passages().await.unwrap(), DOCUMENTS as u64);
}
