//! A suite behind an MCP server: its tools, and what the test asks it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use hooks_agent_core::message::ToolUse;
use hooks_agent_core::tool::{Tool, ToolContext};
use hooks_agent_providers::McpServer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::Command;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/worst-case/bin/python");

/// The tools of the server that are not of the suite.
const CONTROLS: [&str; 5] = ["tasks", "reset", "attack", "is_done", "is_attacked"];

/// A suite, of which one task runs at a time.
#[derive(Clone)]
pub(crate) struct Suite {
    tools: Arc<[Arc<dyn Tool>]>,
    _server: Arc<McpServer>,
}

/// The names of the tasks of a suite.
#[derive(Deserialize)]
pub(crate) struct Tasks {
    pub(crate) user: Vec<String>,
    /// The injections, each with whether it needs a call.
    pub(crate) injections: BTreeMap<String, bool>,
}

/// A task of the user that starts.
#[derive(Deserialize)]
pub(crate) struct Task {
    pub(crate) prompt: String,
    /// What does it.
    pub(crate) calls: Vec<Call>,
    /// What the model says at the end.
    pub(crate) output: String,
    /// What is injected, if something is.
    pub(crate) goal: Option<String>,
}

/// What the injected text wants.
#[derive(Deserialize)]
pub(crate) struct Attack {
    pub(crate) calls: Vec<Call>,
    pub(crate) output: String,
}

/// A call of a tool.
#[derive(Clone, PartialEq, Deserialize)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Value,
}

impl Suite {
    /// Whether the suites are there.
    pub(crate) fn is_installed() -> bool {
        Path::new(PYTHON).exists()
    }

    /// The names of the suites.
    pub(crate) async fn names() -> Vec<String> {
        let output = command().output().await.unwrap();
        serde_json::from_slice(&output.stdout).expect("it prints a list")
    }

    /// Starts the server of a suite.
    pub(crate) async fn start(name: &str) -> Self {
        let mut command = command();
        let calls: Value = toml::from_str(include_str!("calls.toml")).expect("they are calls");
        command.args([name, &calls.to_string()]);
        let server = McpServer::spawn(command).await.unwrap();
        Self { tools: server.tools().into_iter().collect(), _server: Arc::new(server) }
    }

    /// The tools of the suite.
    pub(crate) fn tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        self.tools.iter().filter(|tool| !CONTROLS.contains(&tool.name())).cloned()
    }

    pub(crate) async fn tasks(&self) -> Tasks {
        self.ask("tasks", json!({})).await
    }

    /// Starts a task of the user, with an injection or without.
    pub(crate) async fn reset(&self, user: &str, injection: Option<&str>) -> Task {
        self.ask("reset", json!({ "user": user, "injection": injection })).await
    }

    /// What the injected text wants from here on.
    pub(crate) async fn attack(&self) -> Attack {
        self.ask("attack", json!({})).await
    }

    /// Whether the task of the user is done.
    pub(crate) async fn is_done(&self, output: &str) -> bool {
        self.ask("is_done", json!({ "output": output })).await
    }

    /// Whether what was injected is done.
    pub(crate) async fn is_attacked(&self, output: &str) -> bool {
        self.ask("is_attacked", json!({ "output": output })).await
    }

    async fn ask<T: DeserializeOwned>(&self, name: &str, args: Value) -> T {
        let tool = self.tools.iter().find(|tool| tool.name() == name).expect("the server has it");
        let output = tool.call(ToolContext::detached(ToolUse::new("1", name, args))).await.unwrap();
        serde_json::from_str(output.as_str()).expect("the server says it so")
    }
}

fn command() -> Command {
    let mut command = Command::new(PYTHON);
    command.arg("server.py").current_dir(FOLDER).stderr(Stdio::null());
    command
}
