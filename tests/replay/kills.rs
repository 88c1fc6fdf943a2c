//! A process that is killed while it records.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use hooks_agent_core::prelude::*;
use hooks_agent_replay::{Recording, Tape};

use crate::program::Program;

const PATH: &str = "HOOKS_TAPE_KILLED";

/// RP-09.
#[tokio::test]
async fn a_process_that_is_killed_while_it_records_leaves_the_earlier_tape() {
    let program = Program::new();
    program.record().await;
    let before = program.text();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::child", "--nocapture"])
        .env(PATH, program.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.contains("a call ended")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(program.text(), before);
    Recording::read(program.path()).unwrap();
    program.replay_of(program.agent(), "How is Rome?").await.assert_no_drift();
    // The next recording is not disturbed by what the process left.
    program.record().await;
}

/// What the process does; else nothing.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let tape = Tape::record(path).open().unwrap();
    let program = Program::new();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("Another").await.unwrap();
    println!("a call ended");
    std::future::pending::<()>().await;
    tape.finish().unwrap();
}
