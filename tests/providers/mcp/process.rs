//! Servers that are processes.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use futures::future::{Either, select};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::ActingChunk;
use hooks_agent_core::message::Msg;
use hooks_agent_providers::{McpError, McpOptions, McpServer};
use serde_json::{Value, json};
use tempfile::TempPath;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::Instant;

use crate::everything::{LONG, agent, call, scratch, server_with_id, signal, start};

fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

/// Waits until the process that writes to a pipe has ended.
async fn assert_ends(mut output: Receiver) {
    assert_eq!(output.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let sent = scratch();
    let Some(server) = start("tee \"$1\" | node \"$0\"", &sent).await else { return };
    let long = Box::pin(call(&server, LONG, json!({ "duration": 30, "steps": 1 })));
    let echo = Box::pin(call(&server, "echo", json!({ "message": "1" })));
    let Either::Right((Ok(_), long)) = select(long, echo).await else {
        panic!("half a minute has passed")
    };
    drop(long);
    call(&server, "echo", json!({ "message": "2" })).await.unwrap();

    let sent = std::fs::read_to_string(&sent).unwrap();
    let sent: Vec<Value> = sent.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_the_long = sent.iter().find(|message| message["params"]["name"] == LONG).unwrap();
    let cancelled = sent.iter().find(|message| message["method"] == "notifications/cancelled");
    assert_eq!(cancelled.unwrap()["params"]["requestId"], of_the_long["id"]);
}

struct Kill(TempPath);

#[agent_hook]
impl Kill {
    fn kill(&self, _event: &ActingChunk<'_>) {
        signal("KILL", &self.0);
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_an_error() {
    let Some((server, id)) = server_with_id().await else { return };
    let agent = agent(&server, LONG, json!({ "duration": 3600, "steps": 360_000 }))
        .hook(Kill(id))
        .build()
        .unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap().text();
    let error = "the connection to the MCP server `mcp-servers/everything` has ended (signal: 9 \
                 (SIGKILL))";
    assert_eq!(reply, format!("error: {error}"));
    assert_eq!(call(&server, "echo", json!({ "message": "hi" })).await.unwrap_err(), error);
}

#[tokio::test]
async fn the_process_of_a_closed_server_has_ended() {
    let Some((server, id)) = server_with_id().await else { return };
    assert!(signal("0", &id));
    server.close().await;
    assert!(!signal("0", &id));
}

#[tokio::test]
async fn a_server_that_cannot_be_started_is_named() {
    let error = McpServer::spawn(Command::new("no-such-program")).await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `no-such-program` cannot be started");
    assert_eq!(error.source().unwrap().to_string(), "No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_program_that_ends_before_it_answers_is_no_server() {
    let command = shell("read request; echo hello; exit 3");
    let error = McpServer::spawn(command).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the connection to the MCP server `sh` has ended (exit status: 3)"
    );
}

#[tokio::test]
async fn a_program_that_answers_something_else_is_no_server() {
    let command =
        shell(r#"read request; echo '{ "jsonrpc": "2.0", "id": 0, "result": {} }'; read request"#);
    let error = McpServer::spawn(command).await.unwrap_err();
    assert_eq!(error.to_string(), "`sh` does not answer as an MCP server does");
    assert!(matches!(error, McpError::Handshake { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_program_that_never_answers_is_killed_after_half_a_minute() {
    let (output, end) = io::pipe().unwrap();
    let output = Receiver::from_owned_fd(output.into()).unwrap();
    let mut command = shell("exec sleep 600");
    command.stderr(end);
    let started = Instant::now();
    let error = McpServer::spawn(command).await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `sh` took longer than 30s to start");
    assert_eq!(started.elapsed().as_secs(), 30);
    assert_ends(output).await;
}

/// Answers until it is asked for its tools. Then it writes a byte, and does not read any more.
const WITHOUT_A_LIST: &str = r#"
read discover; echo '{ "jsonrpc": "2.0", "id": 0, "error": { "code": -32601, "message": "" } }'
read initialize; printf '{ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": "2025-06-18", '
echo '"capabilities": { "tools": {} }, "serverInfo": { "name": "slow", "version": "1" } } }'
read initialized; read list; printf . >&2
exec sleep 600"#;

#[tokio::test]
async fn a_server_that_never_lists_its_tools_is_ended() {
    let (output, end) = io::pipe().unwrap();
    let mut output = Receiver::from_owned_fd(output.into()).unwrap();
    let mut command = shell(WITHOUT_A_LIST);
    command.stderr(end);
    let spawned = Box::pin(McpServer::spawn(command));
    let Either::Right((_, spawned)) = select(spawned, Box::pin(output.read_u8())).await else {
        panic!("the server never lists its tools")
    };
    tokio::time::pause();
    let error = spawned.await.unwrap_err();
    assert!(matches!(error, McpError::TimedOut { .. }), "{error}");
    assert_ends(output).await;
}

#[tokio::test(start_paused = true)]
async fn the_start_timeout_is_an_option() {
    let options = McpOptions::new().start_timeout(Duration::from_secs(3));
    let error = McpServer::spawn_with(options, shell("exec sleep 600")).await.unwrap_err();
    let after = Duration::from_secs(3);
    assert!(matches!(error, McpError::TimedOut { after: limit, .. } if limit == after), "{error}");
}

#[tokio::test]
async fn a_server_that_dies_is_not_waited_for_when_its_children_hold_its_output() {
    let file = scratch();
    let mut command = shell("sleep 600 & echo $! > \"$0\"; exit 3");
    command.arg(&file);
    let spawned = tokio::time::timeout(Duration::from_mins(1), McpServer::spawn(command)).await;
    signal("KILL", &file);
    let error = spawned.expect("it does not wait for the child").unwrap_err();
    assert!(matches!(error, McpError::Ended { .. }), "{error}");
}
