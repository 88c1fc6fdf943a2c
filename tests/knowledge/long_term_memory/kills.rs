//! Processes that are killed while they write memories.
//!
//! A process is this test binary, which runs the test `worker` with a job.

use std::collections::BTreeSet;
use std::process::Stdio;

use futures::future::join_all;
use hooks_agent_core::prelude::*;
use hooks_agent_knowledge::{LongTermMemory, Memories, MemoryLimits};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::long_term_memory::backend::{Backend, on_databases, open};
use crate::long_term_memory::{entry, on, rule};

on_databases!(what_was_confirmed_is_there_after_a_kill, what_was_flushed_is_there_after_a_kill,);

/// The variable with the job of a process.
const JOB: &str = "HOOKS_MEMORY_JOB";

/// How many times processes are killed; two at a time.
const KILLS: usize = 6;

/// What a process writes, until it is killed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    address: String,
    name: String,
    /// Through calls of an agent, in the background.
    by_calls: bool,
}

/// Does a job, in a process that a test started; else nothing.
#[test]
fn worker() {
    let Ok(job) = std::env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work(&job));
}

async fn work(job: &Job) {
    let limits = MemoryLimits::default();
    let memories = open(&job.address, limits).await;
    let memory = LongTermMemory::new(memories.clone(), rule()).in_background(true);
    let model = ScriptedModel::new("fixed", |_| "done");
    let agent = ReActAgent::builder("bot").model(model).hook(memory.clone()).build().unwrap();
    for number in 0_u64.. {
        let text = format!("{} {number}", job.name);
        if job.by_calls {
            for part in 0..3 {
                let said = format!("keep: {text} {part}");
                agent.call_with(on("ada", &job.name), said).await.unwrap();
            }
            assert_eq!(memory.flush().await, 0);
        } else {
            let parts = (0..3).map(|part| entry("ada", &format!("{text} {part}"), number));
            memories.add(parts.collect()).await.unwrap();
        }
        println!("confirmed {number}");
        if number == 200 {
            return;
        }
    }
}

/// Starts a process, kills it after it confirmed this many writes, and returns how many it confirmed.
async fn killed_after(job: &Job, writes: u64) -> u64 {
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "long_term_memory::kills::worker", "--nocapture"])
        .env(JOB, serde_json::to_string(job).unwrap())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut confirmed = 0;
    while let Some(line) = lines.next_line().await.unwrap() {
        // The first line begins with the name of the test.
        if let Some((_, number)) = line.split_once("confirmed ") {
            confirmed = number.parse::<u64>().unwrap() + 1;
            if confirmed == writes {
                // Each time somewhat later in the next write.
                for _ in 0..writes * 40_000 {
                    std::hint::spin_loop();
                }
                child.start_kill().unwrap();
            }
        }
    }
    assert!(!child.wait().await.unwrap().success(), "the process was killed");
    confirmed
}

async fn kill(mut backend: Backend, by_calls: bool) {
    let memories = backend.open().await;
    let mut expected = BTreeSet::new();
    let mut confirmed = 0;
    for round in 0..KILLS {
        let jobs = [0, 1].map(|process| Job {
            address: backend.address(),
            name: format!("process {round} {process}"),
            by_calls,
        });
        let writes = (round as u64 + 1) * 2;
        let ended = join_all(jobs.iter().map(|job| killed_after(job, writes))).await;
        for (job, numbers) in jobs.iter().zip(ended) {
            assert!(numbers >= writes);
            confirmed += numbers;
            let texts = (0..numbers)
                .flat_map(|number| (0..3).map(move |part| format!("{} {number} {part}", job.name)));
            expected.extend(texts);
        }
    }
    let entries = memories.list("ada").await.unwrap();
    let found: BTreeSet<_> = entries.iter().map(|entry| entry.text.clone()).collect();
    assert_eq!(found.len(), entries.len(), "nothing is there twice");
    let lost: Vec<_> = expected.difference(&found).collect();
    assert_eq!(lost, [""; 0], "what was confirmed is there");
    // What was not confirmed is there whole or not at all.
    let mut writes: Vec<_> = found.iter().filter_map(|text| text.rsplit_once(' ')).collect();
    if !by_calls {
        let count = |write: &str| writes.iter().filter(|(it, _)| *it == write).count();
        assert!(writes.iter().all(|(write, _)| count(write) == 3));
    }
    writes.dedup_by_key(|(write, _)| *write);
    println!("{} kills, {confirmed} writes confirmed, {} found", 2 * KILLS, writes.len());

    if matches!(backend, Backend::Sqlite(_)) {
        assert_eq!(backend.sql("PRAGMA integrity_check").await, [["ok"]]);
        assert_eq!(backend.sql("PRAGMA foreign_key_check").await.len(), 0);
    }
    let wordless = "SELECT id FROM memory_entry e WHERE NOT EXISTS (
        SELECT 1 FROM memory_word w WHERE w.entry = e.number AND w.user_key = e.user_key)";
    assert_eq!(backend.sql(wordless).await.len(), 0);
    // And the memories still work.
    memories.add(vec![entry("ada", "afterwards", u64::from(u32::MAX))]).await.unwrap();
    let found = memories.search("ada", "afterwards", 1).await.unwrap();
    assert_eq!(found[0].text, "afterwards");
}

async fn what_was_confirmed_is_there_after_a_kill(backend: Backend) {
    kill(backend, false).await;
}

async fn what_was_flushed_is_there_after_a_kill(backend: Backend) {
    kill(backend, true).await;
}
