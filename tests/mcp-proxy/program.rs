//! The program `hooks-agent mcp` around a real process.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::endpoint::{Endpoint, Received, answer_of, body, handshake};
use crate::sides::{call, call_with, masks, proxy, request, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hooks-agent-mcp-proxied");
const SERVER: &str = env!("CARGO_BIN_EXE_scripted-mcp-server");

const POLICY: &str = r#"
version = 1

[[hook]]
use = "pii_detection"
with = { kinds = ["email"], tool_results = true }

[[hook]]
use = "human_in_the_loop"
with = { tools = ["mcp__scripted__pay"] }
"#;

/// The program, as an agent runs it.
struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    folder: TempDir,
}

impl Agent {
    fn start(policy: &str, args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["mcp", "--policy", "policy.toml"])
            .args(args)
            .args(["--", SERVER])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take(), child, lines, folder }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn read(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().expect("a line").unwrap()).unwrap()
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.read()
    }

    fn initialize(&mut self) {
        let answer = self.ask(&request(0, "initialize"));
        assert_eq!(answer["result"]["serverInfo"]["name"], "scripted");
    }

    /// Its exit code and standard error, after its end.
    fn end(mut self) -> (i32, String) {
        let mut error = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        (self.child.wait().unwrap().code().unwrap(), error)
    }

    fn close(&mut self) {
        drop(self.input.take());
    }
}

#[test]
fn a_policy_holds_between_an_agent_and_a_process() {
    let mut agent = Agent::start(POLICY, &[]);
    agent.initialize();
    let mail = json!({ "text": "ada@example.com" });
    let answer = agent.ask(&call_with(1, "echo", &mail));
    let left = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(!left.contains("ada"), "{left}");
    let answer = agent.ask(&call(2, "pay"));
    assert_eq!(answer["result"]["isError"], true);
    let answer = agent.ask(&call(3, "called"));
    let called = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(called.contains("echo") && !called.contains("pay"), "{called}");
    agent.close();
    let (code, error) = agent.end();
    assert_eq!((code, error.as_str()), (0, ""));
}

#[test]
fn what_hooks_remove_is_nowhere() {
    let mut agent = Agent::start(POLICY, &["--state", "threads.db"]);
    agent.initialize();
    let mail = json!({ "text": "ada@example.com" });
    let answer = agent.ask(&call_with(1, "echo", &mail));
    let raw = agent.ask(&call_with(2, "line", &json!({ "text": "ada@example.com" })));
    agent.close();
    let folder = agent.folder.path().to_owned();
    let state = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let state: Vec<_> = state.flat_map(|file| std::fs::read(file).unwrap()).collect();
    let (_, error) = agent.end();
    let all = format!("{answer} {raw} {error} {}", String::from_utf8_lossy(&state));
    assert!(!all.contains("ada@"), "{all}");
    assert!(error.contains("is dropped: it is no JSON"), "{error}");
}

#[test]
fn tools_that_the_policy_denies_are_denied() {
    let mut agent = Agent::start(
        "version = 1\n[limits]\ndeny_tools = [\"mcp__a_b__pay\"]\n",
        &["--server", "a b"],
    );
    agent.initialize();
    assert_eq!(agent.ask(&call(1, "pay"))["result"]["isError"], true);
    assert_eq!(agent.ask(&call_with(2, "echo", &json!({ "text": "ok" })))["result"], text("ok"));
}

fn bank(received: &Received) -> axum::response::Response {
    handshake(received).unwrap_or_else(|| body(&answer_of(received, &text("ada@example.com"))))
}

#[tokio::test]
async fn a_policy_holds_between_an_agent_and_a_url() {
    let endpoint = Endpoint::start(proxy(masks()), bank).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["mcp", "--policy", "policy.toml", "--server", "scripted"])
        .args(["--url", &endpoint.upstream, "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let url = line.strip_prefix("listening on ").unwrap();
    let mut answers = Vec::new();
    for tool in ["read", "pay"] {
        let post = endpoint.client.post(url).header("content-type", "application/json");
        let answer = post.body(call(1, tool).to_string()).send().await.unwrap();
        answers.push(answer.text().await.unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!answers[0].contains("ada@"), "{}", answers[0]);
    assert!(answers[1].contains("isError"), "{}", answers[1]);
    assert_eq!(endpoint.received().len(), 1);
}

#[test]
fn arguments_that_are_wrong_start_nothing() {
    let args = [
        &["mcp", "--policy", "p.toml"][..],
        &["mcp", "--policy", "p.toml", "--url", "http://127.0.0.1:1/mcp"],
        &["mcp", "--policy", "p.toml", "--listen", "127.0.0.1:0", "--", SERVER],
        &[
            "mcp",
            "--policy",
            "p.toml",
            "--url",
            "http://a",
            "--listen",
            "127.0.0.1:0",
            "--",
            SERVER,
        ],
        &["mcp", "--", SERVER],
    ];
    for args in args {
        let output = Command::new(PROGRAM).args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_command_that_does_not_start_is_the_answer_to_the_handshake() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["mcp", "--policy", "policy.toml", "--", "/no/such/program"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", request(1, "initialize")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = "the MCP server `/no/such/program` cannot be started";
    assert_eq!(answer["error"]["message"], reason);
}

#[test]
fn a_limit_counts_over_processes_that_share_a_thread() {
    const LIMIT: &str = "version = 1\n[[hook]]\nuse = \"tool_call_limit\"\nwith = { thread = 1 }\n";
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("threads.db");
    let shared = ["--state", file.to_str().unwrap(), "--thread", "t"];
    let second_of = |args: &[&str]| {
        let mut agent = Agent::start(LIMIT, args);
        agent.initialize();
        agent.ask(&call_with(1, "echo", &json!({ "text": "done" })))["result"].take()
    };
    assert_eq!(second_of(&shared), text("done"));
    assert_eq!(second_of(&shared)["isError"], true);
    assert_eq!(second_of(&[]), text("done"));
    assert_eq!(second_of(&[]), text("done"));
}

#[test]
fn standard_error_of_the_server_is_that_of_the_program() {
    let mut agent = Agent::start(POLICY, &[]);
    agent.initialize();
    agent.ask(&call_with(1, "says", &json!({ "text": "it works" })));
    agent.close();
    assert_eq!(agent.end(), (0, "it works\n".to_owned()));
}

#[test]
fn calls_in_flight_are_answered_when_the_server_ends_and_its_exit_code_is_that_of_the_program() {
    let mut agent = Agent::start(POLICY, &[]);
    agent.initialize();
    agent.send(&call(1, "wait"));
    agent.send(&call_with(2, "exit", &json!({ "code": 7 })));
    let mut ids = Vec::new();
    for answer in [agent.read(), agent.read()] {
        assert_eq!(answer["error"]["message"], "the MCP server has ended");
        ids.push(answer["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    assert!(agent.lines.next().is_none());
    assert_eq!(agent.end().0, 7);
}

#[test]
fn a_server_that_goes_on_without_its_agent_is_ended() {
    let mut agent = Agent::start(POLICY, &["--grace", "0"]);
    agent.initialize();
    agent.send(&call(1, "hang"));
    agent.close();
    let (code, _) = agent.end();
    assert_eq!(code, 128 + 15);
}

#[test]
fn a_program_that_is_terminated_leaves_no_server() {
    let mut agent = Agent::start(POLICY, &[]);
    agent.initialize();
    agent.send(&call(1, "hang"));
    let id = agent.child.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    // Standard error ends with the server, which reads nothing more.
    assert_eq!(agent.end(), (128 + 15, String::new()));
}

#[test]
fn a_policy_with_errors_is_the_answer_to_the_handshake() {
    let mut agent = Agent::start("version = 1\n[[hook]]\nuse = \"none\"\n", &[]);
    let answer = agent.ask(&request("first", "initialize"));
    assert_eq!(answer["id"], "first");
    let reason = answer["error"]["message"].as_str().unwrap();
    assert!(reason.contains("did not start"), "{reason}");
    let (code, error) = agent.end();
    assert_eq!(code, 2);
    assert!(error.contains("policy.toml"), "{error}");
}

#[test]
fn a_state_that_cannot_be_opened_is_the_answer_to_the_handshake() {
    let mut agent = Agent::start(POLICY, &["--state", "."]);
    assert!(agent.ask(&request(1, "initialize")).get("error").is_some());
    assert_eq!(agent.end().0, 2);
}

#[test]
fn limits_that_would_not_hold_are_refused() {
    let mut agent = Agent::start(
        "version = 1\n[[hook]]\nuse = \"model_call_limit\"\nwith = { run = 3 }\n",
        &[],
    );
    let answer = agent.ask(&request(1, "initialize"));
    assert!(answer["error"]["message"].as_str().unwrap().contains("model_call_limit"), "{answer}");
    assert!(agent.folder.path().exists());
}
