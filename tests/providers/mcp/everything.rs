//! The server that others wrote, and calls of its tools.

use std::path::Path;
use std::process::{Command as Shell, Stdio};
use std::sync::Arc;

use hooks_agent_core::message::{ToolOutput, ToolUse};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::{Tool, ToolContext};
use hooks_agent_providers::McpServer;
use hooks_fixtures::tell;
use serde_json::Value;
use tempfile::{NamedTempFile, TempPath};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
);

/// The name of its tool that reports progress.
pub(crate) const LONG: &str = "trigger-long-running-operation";

/// Whether the server is there.
fn is_installed() -> bool {
    let is_installed = Path::new(SERVER).exists();
    if !is_installed {
        tell("skipped: no MCP server, `.ci/servers` installs one");
    }
    is_installed
}

/// The server, started by a line of shell in which `$0` is the server and `$1` a file.
pub(crate) async fn start(line: &str, file: &Path) -> Option<McpServer> {
    if !is_installed() {
        return None;
    }
    let mut command = Command::new("sh");
    command.args(["-c", line, SERVER]).arg(file).stderr(Stdio::null());
    Some(McpServer::spawn(command).await.unwrap())
}

/// The server, and the file with the id of its process.
pub(crate) async fn server_with_id() -> Option<(McpServer, TempPath)> {
    let file = scratch();
    let server = start("echo $$ > \"$1\"; exec node \"$0\"", &file).await?;
    Some((server, file))
}

/// The server behind a URL. Dropping it kills the process.
pub(crate) struct Listening {
    /// Where it is, without a path.
    pub(crate) place: String,
    pub(crate) process: Child,
    /// It could not write to a pipe that nothing reads.
    _output: Lines<BufReader<ChildStderr>>,
}

impl Listening {
    pub(crate) async fn start() -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let mut process = Command::new("node")
            .args(["--import", concat!(env!("CARGO_MANIFEST_DIR"), "/mcp/loopback.mjs")])
            .args([SERVER, "streamableHttp"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = loop {
            let line = output.next_line().await.unwrap().expect("the server listens");
            if let Some(port) = line.strip_prefix("port ") {
                break port.to_owned();
            }
        };
        Some(Self { place: format!("http://127.0.0.1:{port}"), process, _output: output })
    }

    pub(crate) async fn connect(&self) -> McpServer {
        McpServer::connect(format!("{}/mcp", self.place)).await.unwrap()
    }
}

/// The server as a process and behind a URL, with what must live as long. None if not installed.
pub(crate) async fn both() -> Vec<(McpServer, Option<Listening>)> {
    let Some(process) = start("exec node \"$0\"", Path::new("")).await else { return Vec::new() };
    let listening = Listening::start().await.unwrap();
    vec![(process, None), (listening.connect().await, Some(listening))]
}

/// A file that goes with its path.
pub(crate) fn scratch() -> TempPath {
    NamedTempFile::new().unwrap().into_temp_path()
}

/// Sends a signal to the process whose id is in a file, and says whether it was there.
pub(crate) fn signal(signal: &str, file: &Path) -> bool {
    let line = "kill -s \"$0\" \"$(cat \"$1\")\" 2>/dev/null";
    Shell::new("sh").args(["-c", line, signal]).arg(file).status().unwrap().success()
}

pub(crate) fn tool(server: &McpServer, name: &str) -> Arc<dyn Tool> {
    server.tools().into_iter().find(|tool| tool.name() == name).expect("the server has it")
}

pub(crate) async fn output(
    server: &McpServer,
    name: &str,
    input: Value,
) -> Result<ToolOutput, String> {
    let cx = ToolContext::detached(ToolUse::new("1", name, input));
    tool(server, name).call(cx).await.map_err(|error| error.to_string())
}

/// The text of the output.
pub(crate) async fn call(server: &McpServer, name: &str, input: Value) -> Result<String, String> {
    Ok(output(server, name, input).await?.to_string())
}

/// An agent that makes one call, and answers by what it gave.
pub(crate) fn agent(server: &McpServer, name: &str, input: Value) -> ReActAgentBuilder {
    let call = ToolUse::new("1", name, input);
    let model = ScriptedModel::new("scripted", move |request: &ChatRequest| {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) if result.is_error => format!("error: {}", result.output).into(),
            Some(result) => result.output.as_str().into(),
            None => ScriptedAnswer::from(call.clone()),
        }
    });
    ReActAgent::builder("bot").model(model).tools(server.tools())
}
