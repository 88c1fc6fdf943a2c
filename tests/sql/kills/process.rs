//! Processes that work on a store.

use std::process::{Command, ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::kills::worker::{JOB, Job};

/// A process that works. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
}

impl Process {
    pub(crate) fn start(job: &Job) -> Self {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::worker::worker", "--nocapture"])
            .env(JOB, serde_json::to_string(job).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stdin = child.stdin.take().unwrap();
        Self { child, lines, stdin }
    }

    /// Waits for a line of this beginning and returns the rest of it. `None` if the process ends
    /// without one.
    pub(crate) async fn says(&mut self, beginning: &str) -> Option<String> {
        while let Some(line) = self.lines.next_line().await.unwrap() {
            // The first line begins with the name of the test.
            if let Some((_, rest)) = line.split_once(beginning) {
                return Some(rest.to_owned());
            }
        }
        None
    }

    /// Writes a line to the process.
    pub(crate) async fn hears(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Waits for the end of the process.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        while self.lines.next_line().await.unwrap().is_some() {}
        self.child.wait().await.unwrap()
    }

    /// Kills the process.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Sends a signal, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id().unwrap(), name);
    }
}

/// Ends this process as `kill -9` does.
pub(crate) fn die() -> ! {
    signal(std::process::id(), "KILL");
    unreachable!("a killed process does not go on")
}

fn signal(process: u32, name: &str) {
    let kill = Command::new("kill").args(["-s", name, &process.to_string()]).status().unwrap();
    assert!(kill.success());
}
