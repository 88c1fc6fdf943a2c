//! Tools of servers that speak the Model Context Protocol, with a server that others wrote.

use std::error::Error as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command as Shell;
use std::sync::{Arc, Once};
use std::time::Duration;

use futures::future::{Either, join, select};
use hooks_agent::{
    ActingChunk, AgentExt, ChatRequest, McpError, McpServer, Msg, ReActAgent, ReActAgentBuilder,
    ScriptedModel, Tool, ToolContext, ToolUse, agent_hook,
};
use hooks_tests::Records;
use serde_json::{Value, json};
use tokio::process::Command;

const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../target/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
);

/// Whether the server is there. The harness hides what passing tests print, but not this.
fn is_installed() -> bool {
    static SKIPPED: Once = Once::new();
    let is_installed = Path::new(SERVER).exists();
    if !is_installed {
        SKIPPED.call_once(|| {
            let why = "SKIPPED: tests of tests/mcp.rs that need an MCP server, as there is none; \
                       install it by `.ci/mcp-server` (needs npm)\n";
            io::stderr().write_all(why.as_bytes()).unwrap();
        });
    }
    is_installed
}

/// The server, started by a line of shell in which `$0` is the server and `$1` a file.
async fn start(line: &str, file: &Path) -> Option<McpServer> {
    if !is_installed() {
        return None;
    }
    let mut command = Command::new("sh");
    command.args(["-c", line, SERVER]).arg(file).stderr(std::process::Stdio::null());
    Some(McpServer::spawn(command).await.unwrap())
}

async fn server() -> Option<McpServer> {
    start("exec node \"$0\"", Path::new("")).await
}

/// The server, and the file with the id of its process.
async fn server_with_id(test: &str) -> Option<(McpServer, PathBuf)> {
    let file = scratch(test);
    let server = start("echo $$ > \"$1\"; exec node \"$0\"", &file).await?;
    Some((server, file))
}

fn scratch(test: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-{test}"))
}

/// Sends a signal to the process whose id is in a file, and says whether it was there.
fn signal(signal: &str, file: &Path) -> bool {
    let line = "kill -s \"$0\" \"$(cat \"$1\")\" 2>/dev/null";
    Shell::new("sh").args(["-c", line, signal]).arg(file).status().unwrap().success()
}

fn tool(server: &McpServer, name: &str) -> Arc<dyn Tool> {
    server.tools().into_iter().find(|tool| tool.name() == name).expect("the server has it")
}

async fn call(server: &McpServer, name: &str, input: Value) -> Result<String, String> {
    let cx = ToolContext::detached(ToolUse::new("1", name, input));
    tool(server, name).call(cx).await.map_err(|error| error.to_string())
}

/// An agent that makes one call, and answers by what it gave.
fn agent(server: &McpServer, name: &str, input: Value) -> ReActAgentBuilder {
    let call = ToolUse::new("1", name, input);
    let model = ScriptedModel::new("scripted", move |request: &ChatRequest| {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) if result.is_error => format!("error: {}", result.output).into(),
            Some(result) => result.output.clone().into(),
            None => hooks_agent::ScriptedAnswer::from(call.clone()),
        }
    });
    ReActAgent::builder("bot").model(model).tools(server.tools())
}

const LONG: &str = "trigger-long-running-operation";

#[tokio::test]
async fn tools_are_listed_with_their_schemas() {
    let Some(server) = server().await else { return };
    let echo = tool(&server, "echo");
    assert_eq!(echo.description(), "Echoes back the input string");
    assert_eq!(echo.schema()["type"], "object");
    assert_eq!(echo.schema()["$schema"], Value::Null);
    assert_eq!(echo.schema()["properties"]["message"]["type"], "string");
    assert_eq!(echo.schema()["required"], json!(["message"]));
}

#[tokio::test]
async fn a_result_is_its_texts_line_by_line_with_the_rest_described() {
    let Some(server) = server().await else { return };
    assert_eq!(call(&server, "echo", json!({ "message": "hi" })).await.unwrap(), "Echo: hi");
    assert_eq!(
        call(&server, "get-tiny-image", json!({})).await.unwrap(),
        "Here's the image you requested:\n[image, image/png]\nThe image above is the MCP logo.",
    );
    assert_eq!(
        call(&server, "get-resource-links", json!({ "count": 1 })).await.unwrap(),
        "Here are 1 resource links to resources available in this server:\n\
         [resource, demo://resource/dynamic/blob/1, text/plain]",
    );
}

#[tokio::test]
async fn an_agent_uses_a_tool_of_a_server() {
    let Some(server) = server().await else { return };
    let agent = agent(&server, "get-sum", json!({ "a": 2, "b": 3 })).build().unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap();
    assert_eq!(reply.text(), "The sum of 2 and 3 is 5.");
}

#[tokio::test]
async fn an_error_of_the_server_is_a_result_that_the_model_reads() {
    let Some(server) = server().await else { return };
    let agent = agent(&server, "echo", json!({})).build().unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap().text();
    assert!(reply.starts_with("error: "), "{reply}");
    assert!(reply.contains("expected string, received undefined at message"), "{reply}");
}

#[tokio::test]
async fn arguments_that_are_no_object_are_not_sent() {
    let Some(server) = server().await else { return };
    let error = call(&server, "echo", json!("hi")).await.unwrap_err();
    assert_eq!(error, "the arguments are not a JSON object: \"hi\"");
}

struct Watch(Arc<Records<String>>);

#[agent_hook]
impl Watch {
    fn watch(&self, event: &ActingChunk<'_>) {
        self.0.push(event.chunk().to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_arrives_at_hooks_in_order_and_before_the_result() {
    let Some(server) = server().await else { return };
    let told = Arc::new(Records::new());
    let agent = agent(&server, LONG, json!({ "duration": 0.02, "steps": 20 }))
        .hook(Watch(told.clone()))
        .build()
        .unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap().text();
    assert!(reply.starts_with("Long running operation completed."), "{reply}");
    let expected: Vec<_> = (1..=20).map(|step| format!("{step}/20")).collect();
    assert_eq!(told.take(), expected);
}

#[tokio::test]
async fn calls_at_the_same_time_get_their_own_results_and_progress() {
    let Some(server) = server().await else { return };
    let of_steps = async |steps: u32| {
        let told = Arc::new(Records::new());
        let agent = agent(&server, LONG, json!({ "duration": 0.01, "steps": steps }))
            .hook(Watch(told.clone()))
            .build()
            .unwrap();
        (agent.call(Msg::user("go")).await.unwrap().text(), told.take())
    };
    let ((two, told_two), (three, told_three)) = join(of_steps(2), of_steps(3)).await;
    assert!(two.ends_with("Steps: 2."), "{two}");
    assert!(three.ends_with("Steps: 3."), "{three}");
    assert_eq!(told_two, ["1/2", "2/2"]);
    assert_eq!(told_three, ["1/3", "2/3", "3/3"]);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_and_leaves_the_connection_usable() {
    let sent = scratch("sent");
    let Some(server) = start("tee \"$1\" | node \"$0\"", &sent).await else { return };
    let long = Box::pin(call(&server, LONG, json!({ "duration": 30, "steps": 1 })));
    let echo = Box::pin(call(&server, "echo", json!({ "message": "1" })));
    let Either::Right((Ok(first), long)) = select(long, echo).await else {
        panic!("half a minute has passed")
    };
    assert_eq!(first, "Echo: 1");
    drop(long);
    assert_eq!(call(&server, "echo", json!({ "message": "2" })).await.unwrap(), "Echo: 2");

    let sent = std::fs::read_to_string(sent).unwrap();
    let sent: Vec<Value> = sent.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_the_long = sent.iter().find(|message| message["params"]["name"] == LONG).unwrap();
    let cancelled = sent.iter().find(|message| message["method"] == "notifications/cancelled");
    assert_eq!(cancelled.unwrap()["params"]["requestId"], of_the_long["id"]);
}

struct Kill(PathBuf);

#[agent_hook]
impl Kill {
    fn kill(&self, _event: &ActingChunk<'_>) {
        signal("KILL", &self.0);
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_an_error() {
    let Some((server, id)) = server_with_id("dies").await else { return };
    let agent = agent(&server, LONG, json!({ "duration": 3600, "steps": 360_000 }))
        .hook(Kill(id))
        .build()
        .unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap().text();
    let error =
        "the MCP server `mcp-servers/everything` does not run any more (signal: 9 (SIGKILL))";
    assert_eq!(reply, format!("error: {error}"));
    assert_eq!(call(&server, "echo", json!({ "message": "hi" })).await.unwrap_err(), error);
}

#[tokio::test]
async fn a_closed_server_has_ended_and_its_tools_say_so() {
    let Some((server, id)) = server_with_id("closed").await else { return };
    let echo = tool(&server, "echo");
    assert!(signal("0", &id));
    server.close().await;
    assert!(!signal("0", &id));
    let cx = ToolContext::detached(ToolUse::new("1", "echo", json!({ "message": "hi" })));
    let error = echo.call(cx).await.unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(McpError::Ended { .. })), "{error}");
}

#[tokio::test]
async fn a_server_that_cannot_be_started_is_named() {
    let error = McpServer::spawn(Command::new("no-such-program")).await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `no-such-program` cannot be started");
    assert_eq!(error.source().unwrap().to_string(), "No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_program_that_ends_before_it_answers_is_no_server() {
    let mut command = Command::new("sh");
    command.args(["-c", "read request; echo hello; exit 3"]);
    let error = McpServer::spawn(command).await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `sh` does not run any more (exit status: 3)");
}

#[tokio::test]
async fn a_program_that_answers_something_else_is_no_server() {
    let mut command = Command::new("sh");
    let answer =
        r#"read request; echo '{ "jsonrpc": "2.0", "id": 0, "result": {} }'; read request"#;
    command.args(["-c", answer]);
    let error = McpServer::spawn(command).await.unwrap_err();
    assert_eq!(error.to_string(), "`sh` does not answer as an MCP server does");
    assert!(matches!(error, McpError::Handshake { .. }));
}

#[tokio::test]
async fn a_server_that_dies_is_not_waited_for_when_its_children_hold_its_output() {
    let file = scratch("child");
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & echo $! > \"$0\"; exit 3"]).arg(&file);
    let spawned = tokio::time::timeout(Duration::from_mins(1), McpServer::spawn(command)).await;
    signal("KILL", &file);
    let error = spawned.expect("it does not wait for the child").unwrap_err();
    assert!(matches!(error, McpError::Ended { .. }), "{error}");
}
