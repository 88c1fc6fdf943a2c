//! Calls that run at once.

use futures::future::join_all;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::prelude::*;
use hooks_agent_replay::{Drift, Tape};

use crate::program::Program;

const THREADS: usize = 8;

/// Calls the agent twice on each thread, all threads at once.
async fn at_once(program: &Program, tape: &Tape, prompt: &str) -> Vec<String> {
    let agent = program.agent().system_prompt(prompt).parallel_tools(true).hook(tape.clone());
    let agent = std::sync::Arc::new(agent.build().unwrap());
    let calls = (0..THREADS).map(|thread| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let mut replies = String::new();
            for message in ["One", "Two"] {
                let options = CallOptions::new().thread(format!("thread-{thread}"));
                let reply = agent.call_with(options, format!("{message} of {thread}")).await;
                replies.push_str(&serde_json::to_string(&reply.unwrap()).unwrap());
            }
            replies
        })
    });
    join_all(calls).await.into_iter().map(Result::unwrap).collect()
}

/// RP-10.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_threads_at_once_replay_the_same_each_time() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let recorded = at_once(&program, &tape, "Be brief.").await;
    tape.finish().unwrap();
    program.reset();
    let mut reports: Vec<(String, String)> = Vec::new();
    for round in 0..50 {
        let tape = Tape::replay(program.path()).open().unwrap();
        assert_eq!(at_once(&program, &tape, "Be brief.").await, recorded, "replay {round}");
        tape.finish().unwrap().assert_no_drift();

        let tape = Tape::replay(program.path()).open().unwrap();
        at_once(&program, &tape, "Be long.").await;
        let drift: Drift = tape.finish().unwrap();
        assert_eq!(drift.entries.len(), 2 * THREADS, "{drift}");
        reports.push((drift.to_string(), serde_json::to_string(&drift).unwrap()));
    }
    reports.dedup();
    assert_eq!(reports.len(), 1, "each report has the same bytes");
    assert_eq!(program.counts(), (0, 0));
}
