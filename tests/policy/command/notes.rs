//! Parts that the tests of events share: agents that follow a script, and files and pipes that
//! commands write.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_policy::command::{CommandEntry, CommandHooks};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot::{Receiver, channel};

pub(crate) fn at(event: &str, line: &str) -> CommandEntry {
    CommandEntry::shell(event, line).named("guard")
}

/// An agent whose model follows the script.
pub(crate) fn agent(script: &Script, hooks: CommandHooks) -> ReActAgent {
    let model = script.clone();
    ReActAgent::builder("assistant").model(model).hook(hooks).build().unwrap()
}

/// A file to which commands append.
pub(crate) struct Notes(TempDir);

impl Notes {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> String {
        self.0.path().join("notes").display().to_string()
    }

    /// A line of shell that appends the input.
    pub(crate) fn append(&self) -> String {
        format!("{{ cat; echo; }} >> '{}'", self.path())
    }

    /// Returns the inputs that were appended.
    pub(crate) fn inputs(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A pipe to which one command, that nobody waits for, writes its input.
pub(crate) fn pipe() -> (TempDir, String, Receiver<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let line = format!("cat > '{}'", path.display());
    let (sender, input) = channel();
    std::thread::spawn(move || {
        let text = std::fs::read_to_string(path).unwrap();
        let _ = sender.send(serde_json::from_str(&text).unwrap());
    });
    (folder, line, input)
}
