//! A process group that a test watches without looking at a clock.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::oneshot::{Receiver, channel};

/// A pipe that every process of a group holds: at its end no process is left.
pub(crate) struct Group {
    _folder: TempDir,
    /// What a line of shell begins with: it takes the pipe and says that it has started.
    pub(crate) joins: String,
    started: Option<Receiver<()>>,
    ended: Receiver<()>,
}

impl Group {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alive");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let joins = format!("exec 9>'{}'; echo started >&9; ", path.display());
        let (has_started, started) = channel();
        let (has_ended, ended) = channel();
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(File::open(path).unwrap());
            let mut line = String::new();
            pipe.read_line(&mut line).unwrap();
            // A test that does not wait for it is over.
            let _ = has_started.send(());
            pipe.read_to_string(&mut line).unwrap();
            let _ = has_ended.send(());
        });
        Self { _folder: folder, joins, started: Some(started), ended }
    }

    /// Waits until a process has joined.
    pub(crate) async fn started(&mut self) {
        self.started.take().expect("it is waited for once").await.unwrap();
    }

    /// Waits until no process is left. The processes of the tests live for a minute.
    pub(crate) async fn assert_ends(self) {
        let ended = tokio::time::timeout(Duration::from_secs(20), self.ended).await;
        ended.expect("a process of the group lives").unwrap();
    }
}
