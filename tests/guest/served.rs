//! `hooks-agent serve` and `hooks-agent-ask`: a guard that stays.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::installed::{Home, command_of, hooked, succeeded};
use crate::program::{NOTHING, PROGRAM};

const ASK: &str = env!("CARGO_BIN_EXE_hooks-agent-ask-tested");

const POLICY: &str = r#"
version = 1
[limits]
deny_tools = ["Bash"]
[[hook]]
use = "tool_call_limit"
with = { thread = 3 }
"#;

/// A server with its policy, until it is dropped.
struct Server {
    folder: TempDir,
    child: Child,
    /// What it says on standard error.
    errors: mpsc::Receiver<String>,
    address: Option<String>,
}

impl Server {
    fn start(policy: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("policy.toml"), policy).unwrap();
        Self::in_folder(folder, more)
    }

    fn in_folder(folder: TempDir, more: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--policy", "policy.toml", "--state", "threads.db"]).args(more);
        let piped = command.current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        said.next().expect("it says where it listens").unwrap();
        let address = more.contains(&"--address").then(|| said.next().unwrap().unwrap());
        let address = address.map(|address| address.strip_prefix("http://").unwrap().to_owned());
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (line, errors) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).all(|it| line.send(it).is_ok()));
        Self { folder, child, errors, address }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("serve.sock")
    }

    fn policy(&self, policy: &str) {
        fs::write(self.folder.path().join("policy.toml"), policy).unwrap();
    }

    /// Waits until it says this on standard error.
    fn says(&self, text: &str) -> String {
        self.errors.iter().find(|line| line.contains(text)).expect("it ended")
    }

    fn ask(&self, agent: &str, event: &str, input: &str) -> Output {
        ask(&self.socket(), &["--agent", agent, "--event", event], input)
    }

    /// Stops it as a service manager does, and returns its folder.
    fn stopped(mut self) -> TempDir {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(socket: &Path, more: &[&str], input: &str) -> Output {
    run(Command::new(ASK).arg("--socket").arg(socket).args(more), input)
}

fn run(command: &mut Command, input: &str) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn tool(name: &str) -> String {
    json!({
        "session_id": "s", "turn_id": "t", "hook_event_name": "PreToolUse", "tool_name": name,
        "tool_input": { "command": "ls" },
    })
    .to_string()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn is_denied(output: &Output) -> bool {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn a_server_answers_as_a_guard_does() {
    let server = Server::start(POLICY, &[]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let prompt = r#"{"session_id": "s", "turn_id": "t", "hook_event_name": "UserPromptSubmit", "prompt": "hi"}"#;
    let other =
        r#"{"conversation_id": "c", "generation_id": "g", "hook_event_name": "preToolUse"}"#;
    let (denied, passed) = (tool("Bash"), tool("Read"));
    for (event, input) in [
        ("PreToolUse", denied.as_str()),
        ("PreToolUse", &passed),
        ("PreToolUse", "{"),
        ("PreToolUse", ""),
        ("PreToolUse", "[]"),
        ("PreToolUse", other),
        ("PreToolUse", prompt),
        ("UserPromptSubmit", prompt),
        (
            "SessionStart",
            r#"{"session_id": "s", "turn_id": "t", "hook_event_name": "SessionStart"}"#,
        ),
        ("Unknown", r#"{"session_id": "s", "turn_id": "t", "hook_event_name": "Unknown"}"#),
    ] {
        let args = [
            "guard",
            "--policy",
            "policy.toml",
            "--state",
            "threads.db",
            "--agent",
            "codex",
            "--event",
            event,
        ];
        let by_guard = run(Command::new(PROGRAM).args(args).current_dir(&folder), input);
        let by_server = server.ask("codex", event, input);
        assert_eq!(said(&by_server), said(&by_guard), "{event} {input}");
        assert_eq!(by_server.status.code(), by_guard.status.code(), "{event} {input}");
        assert_eq!(
            by_server.stderr.is_empty(),
            by_guard.status.code() != Some(2),
            "{event} {input}"
        );
    }
}

#[test]
fn limits_are_kept_over_events_and_over_a_server_that_is_started_again() {
    let server = Server::start(POLICY, &[]);
    for _ in 0..2 {
        assert_eq!(said(&server.ask("codex", "PreToolUse", &tool("Read"))), NOTHING);
    }
    let server = Server::in_folder(server.stopped(), &[]);
    assert_eq!(said(&server.ask("codex", "PreToolUse", &tool("Read"))), NOTHING);
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Read"))));
    // And by a guard that starts at each event, once the server has left the file.
    let folder = server.stopped();
    assert!(!folder.path().join("serve.sock").exists());
    let args = ["guard", "--policy", "policy.toml", "--state", "threads.db", "--agent", "codex"];
    assert!(is_denied(&run(Command::new(PROGRAM).args(args).current_dir(&folder), &tool("Read"))));
}

#[test]
fn nothing_is_lost_by_a_kill_if_answers_wait_for_the_disk() {
    let mut server = Server::start(POLICY, &["--durable"]);
    for _ in 0..3 {
        assert_eq!(said(&server.ask("codex", "PreToolUse", &tool("Read"))), NOTHING);
    }
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let folder = std::mem::replace(&mut server.folder, tempfile::tempdir().unwrap());
    // The socket that it left is replaced.
    assert!(folder.path().join("serve.sock").exists());
    let server = Server::in_folder(folder, &["--durable"]);
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Read"))));
}

#[test]
fn parallel_events_of_a_session_count_right() {
    let server = Server::start(
        "version = 1\n[[hook]]\nuse = \"tool_call_limit\"\nwith = { thread = 40 }\n",
        &[],
    );
    let socket = &server.socket();
    let passed: usize = thread::scope(|scope| {
        let asks = (0..8).map(|_| {
            scope.spawn(|| {
                let passed =
                    |_: &usize| said(&ask(socket, &["--agent", "codex"], &tool("Read"))) == NOTHING;
                (0..8).filter(passed).count()
            })
        });
        let asks: Vec<_> = asks.collect();
        asks.into_iter().map(|ask| ask.join().unwrap()).sum()
    });
    assert_eq!(passed, 40, "of 64");
}

#[test]
fn a_policy_that_changes_holds_within_a_second_and_a_broken_one_does_not() {
    let server = Server::start(POLICY, &[]);
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Bash"))));
    server.policy("version = 1\n[limits]\ndeny_tools = [\"Read\"]\n");
    server.says("the policy was read again");
    assert_eq!(said(&server.ask("codex", "PreToolUse", &tool("Bash"))), NOTHING);
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Read"))));
    server.policy("version = 1\n[limts]\n");
    server.says("the policy is broken, the last one stays");
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Read"))));
    // Limits that a guard cannot hold are refused, not passed over.
    server.policy("version = 1\n[[hook]]\nuse = \"model_call_limit\"\nwith = { run = 3 }\n");
    server.says("the policy was read again");
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Write"))));
    assert!(server.says("an event is blocked").contains("`model_call_limit`"));
}

#[test]
fn a_server_that_cannot_be_asked_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    let gone = ask(&socket, &["--agent", "codex", "--event", "PreToolUse"], &tool("Read"));
    assert_eq!(gone.status.code(), Some(2));
    assert!(String::from_utf8(gone.stderr).unwrap().contains("no server at"));
    for reply in [
        "",
        "garbage",
        "HTTP/1.1 200 OK\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nhooks-agent-code: 0\r\nhooks-agent-output: 9\r\n\r\n{}\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 30\r\nhooks-agent-code: 0\r\nhooks-agent-output: 3\r\n\r\n{}\n",
        "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 3\r\nhooks-agent-code: 0\r\nhooks-agent-output: 3\r\n\r\n{}\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nhooks-agent-code: 300\r\nhooks-agent-output: 3\r\n\r\n{}\n",
    ] {
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut part = [0; 4096];
            let _ = stream.read(&mut part).unwrap();
            stream.write_all(reply.as_bytes()).unwrap();
        });
        let output = ask(&socket, &["--agent", "codex", "--event", "PreToolUse"], &tool("Read"));
        server.join().unwrap();
        assert_eq!(output.status.code(), Some(2), "{reply}");
        assert_eq!(said(&output), "", "{reply}");
        assert!(!output.stderr.is_empty(), "some agents go on without a reason");
    }
}

#[test]
fn a_server_that_is_silent_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let output = ask(
        &socket,
        &["--agent", "codex", "--event", "PreToolUse", "--deadline", "1"],
        &tool("Read"),
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("took too long"));
    drop(listener);
}

#[test]
fn arguments_of_the_program_that_asks_are_refused_by_name() {
    for (args, expected) in [
        (&["--agent", "codex"][..], "--socket FILE"),
        (&["--socket"], "`--socket` has no value"),
        (&["--socket", "s", "--event", "Stop"], "`--event` needs `--agent`"),
        (&["--socket", "s", "--agent", "a/b"], "`a/b` is no name"),
        (&["--socket", "s", "--deadline", "0"], "no number of seconds"),
        (&["--address", "127.0.0.1:1"], "--token-file"),
        (&["--what"], "unknown argument `--what`"),
    ] {
        let output = run(Command::new(ASK).args(args), "");
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn an_event_that_is_too_long_is_blocked() {
    let server = Server::start(POLICY, &[]);
    let long = format!("{}{}", tool("Read"), " ".repeat(65 * 1024 * 1024));
    let output = server.ask("codex", "PreToolUse", &long);
    assert_eq!(output.status.code(), Some(2));
    // One that the program would not send either.
    let mut stream = UnixStream::connect(server.socket()).unwrap();
    let head = format!(
        "POST /run/codex/PreToolUse HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        long.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let _ = stream.write_all(long.as_bytes());
    let mut reply = String::new();
    let _ = stream.read_to_string(&mut reply);
    assert!(reply.is_empty() || reply.contains("deny"), "{reply}");
}

#[test]
fn the_state_is_of_one_process_and_one_that_cannot_be_written_blocks() {
    let server = Server::start(POLICY, &[]);
    let mut second = Command::new(PROGRAM);
    second.args([
        "serve",
        "--policy",
        "policy.toml",
        "--state",
        "other.db",
        "--socket",
        "serve.sock",
    ]);
    let refused = run(second.current_dir(&server.folder), "");
    assert!(!refused.status.success());
    assert!(String::from_utf8(refused.stderr).unwrap().contains("is served already"));
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Bash"))));
    let mode = fs::metadata(server.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "its user alone");

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    fs::create_dir(folder.path().join("threads.db")).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--policy", "policy.toml", "--state", "threads.db"]);
    let refused = run(command.current_dir(&folder), "");
    assert!(!refused.status.success());
    assert!(String::from_utf8(refused.stderr).unwrap().contains("threads.db"));
}

#[test]
fn whatever_it_waits_for_the_program_that_asks_ends_at_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    // A server that takes what fits into its socket, and reads nothing; and an input that stays open.
    let listener = UnixListener::bind(&socket).unwrap();
    let long = tool("Read").replace("ls", &"x".repeat(3 * 1024 * 1024));
    for input in [Some(long), None] {
        let mut command = Command::new(ASK);
        command.args(["--deadline", "1", "--agent", "codex", "--socket"]).arg(&socket);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begin = std::time::Instant::now();
        let mut child = piped.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let open = match input {
            Some(long) => {
                let _ = stdin.write_all(long.as_bytes());
                None
            }
            None => Some(stdin),
        };
        let output = child.wait_with_output().unwrap();
        drop(open);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
        // It would be 20 seconds without one.
        assert!(begin.elapsed().as_secs() < 15);
    }
    drop(listener);
}

#[test]
fn a_socket_is_in_a_folder_of_its_user_and_replaces_no_file() {
    let refused = |folder: &TempDir, why: &str| {
        fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--policy", "policy.toml", "--state", "t.db", "--socket", "s"]);
        let output = run(command.current_dir(folder), "");
        assert!(!output.status.success());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(why), "{errors}");
    };
    let open = tempfile::tempdir().unwrap();
    fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    refused(&open, "others can write in");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s"), "work").unwrap();
    refused(&folder, "is another file");
    assert_eq!(fs::read_to_string(folder.path().join("s")).unwrap(), "work");
}

#[test]
fn a_server_that_stops_leaves_the_socket_of_another_one() {
    let first = Server::start(POLICY, &[]);
    fs::remove_file(first.socket()).unwrap();
    let path = first.socket();
    let other = UnixListener::bind(&path).unwrap();
    let folder = first.stopped();
    assert!(folder.path().join("serve.sock").exists());
    drop(other);
}

#[test]
fn a_state_that_is_removed_under_a_server_blocks() {
    let server = Server::start(POLICY, &["--durable"]);
    assert_eq!(said(&server.ask("codex", "PreToolUse", &tool("Read"))), NOTHING);
    for file in ["threads.db", "threads.db-wal", "threads.db-shm"] {
        let _ = fs::remove_file(server.folder.path().join(file));
    }
    assert!(is_denied(&server.ask("codex", "PreToolUse", &tool("Read"))));
    assert!(server.says("was removed or replaced").contains("threads.db"));
}

#[test]
fn an_event_at_the_entry_of_one_that_decides_nothing_is_refused() {
    let server = Server::start(POLICY, &[]);
    assert!(is_denied(&server.ask("codex", "SessionStart", &tool("Read"))));
}

#[test]
fn a_parent_that_turns_out_to_have_one_counts_with_it() {
    let server = Server::start(POLICY, &[]);
    let event = |session: &str, parent: Option<&str>| {
        let mut event = json!({
            "sessionId": session, "timestamp": 0, "cwd": "/", "toolName": "bash", "toolArgs": { "command": "ls" },
        });
        if let Some(parent) = parent {
            event["agentId"] = session.into();
            event["parentAgentId"] = parent.into();
        }
        let args = ["--agent", "copilot", "--event", "preToolUse"];
        said(&ask(&server.socket(), &args, &event.to_string())) == NOTHING
    };
    assert!(event("a", Some("b")));
    assert!(event("b", Some("c")));
    assert!(event("a", Some("b")));
    assert!(event("a", Some("b")));
    assert!(!event("c", None) || !event("a", Some("b")), "three calls of one session");
}

#[test]
fn a_disk_that_fills_up_blocks_what_would_be_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    // Files may have this many blocks, as on a disk that is nearly full.
    let line = format!(
        "trap '' XFSZ; ulimit -f 200; exec '{PROGRAM}' serve --policy policy.toml --state threads.db"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(&folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    let socket = folder.path().join("serve.sock");
    let is_blocked = |session: &usize| {
        let event = tool("Read").replace("\"s\"", &format!("\"{session}\""));
        is_denied(&ask(&socket, &["--agent", "codex", "--event", "PreToolUse"], &event))
    };
    let blocked = (0..2_000).find(is_blocked);
    assert!(blocked.is_some(), "it was written somewhere");
    assert!(is_blocked(&3_000), "and the next one too");
    child.kill().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    child.wait().unwrap();
    assert!(errors.contains("the file of the threads cannot be"), "{errors}");
}

fn http(address: &str, path: &str, headers: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

#[test]
fn an_address_needs_the_token_of_its_file() {
    let server = Server::start(POLICY, &["--address", "127.0.0.1:0", "--token-file", "token"]);
    let address = server.address.as_deref().unwrap();
    let file = server.folder.path().join("token");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    let token = fs::read_to_string(&file).unwrap();
    let host = format!("host: {address}\r\n");
    let known = format!("{host}authorization: Bearer {}\r\n", token.trim());
    let (status, body) = http(address, "/hook/codex/PreToolUse", &known, &tool("Read"));
    assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", "{}"));
    // The form of an HTTP handler has no exit code.
    let settings = r#"{"session_id": "s", "transcript_path": "/.claude/x", "hook_event_name": "UserPromptExpansion"}"#;
    let (status, body) = http(address, "/hook/claude/UserPromptExpansion", &known, settings);
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["decision"], "block");

    let wrong = format!("{host}authorization: Bearer {}\r\n", "0".repeat(64));
    let elsewhere = format!("host: example.com\r\nauthorization: Bearer {}\r\n", token.trim());
    for headers in [&host, &wrong, &elsewhere] {
        let (status, _) = http(address, "/run/codex/PreToolUse", headers, &tool("Read"));
        assert!(status.contains("403"), "{headers}");
        let (status, body) = http(address, "/hook/codex/PreToolUse", headers, &tool("Read"));
        assert!(status.contains("200"), "an agent goes on with another status");
        assert!(body.contains("\"permissionDecision\":\"deny\""), "{body}");
    }
    // An agent goes on with another status, whatever it asked for.
    for path in [
        "/hook",
        "/hook/",
        "/hook/codex",
        "/hook/%ff/PreToolUse",
        "/hook/codex/PreToolUse/more",
        "/hook/nobody/PreToolUse",
    ] {
        for headers in [&known, &host] {
            let (status, body) = http(address, path, headers, &tool("Read"));
            assert_eq!(status, "HTTP/1.1 200 OK", "{path}");
            let body: Value = serde_json::from_str(&body).unwrap();
            let of_tool = &body["hookSpecificOutput"]["permissionDecision"];
            assert!(body["decision"] == "block" || *of_tool == "deny", "{path}: {body}");
        }
    }
    let args = ["--address", address, "--token-file", file.to_str().unwrap(), "--agent", "codex"];
    assert_eq!(said(&run(Command::new(ASK).args(args), &tool("Read"))), NOTHING);

    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let folder = server.stopped();
    let mut command = Command::new(PROGRAM);
    command.args([
        "serve",
        "--policy",
        "policy.toml",
        "--state",
        "threads.db",
        "--token-file",
        "token",
        "--address",
    ]);
    let open = run(command.arg("127.0.0.1:0").current_dir(&folder), "");
    assert!(String::from_utf8(open.stderr).unwrap().contains("others can read it"));
    let mut command = Command::new(PROGRAM);
    command.args([
        "serve",
        "--policy",
        "policy.toml",
        "--state",
        "threads.db",
        "--token-file",
        "t",
        "--address",
    ]);
    let open = run(command.arg("0.0.0.0:0").current_dir(&folder), "");
    assert!(String::from_utf8(open.stderr).unwrap().contains("reached by other machines"));
}

#[test]
fn an_installed_hook_asks_the_server_and_denies_if_it_is_gone() {
    let server = Server::start(POLICY, &[]);
    let home = Home::new();
    let socket = server.socket();
    let socket = socket.to_str().unwrap();
    // As they are installed, side by side.
    fs::create_dir(home.at("bin")).unwrap();
    let program = home.at("bin/hooks-agent");
    for (from, to) in [(PROGRAM, &program), (ASK, &home.at("bin/hooks-agent-ask"))] {
        fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)).unwrap();
    }
    let run = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args).env_clear().env("HOME", home.at("")).env("PATH", "/usr/bin:/bin");
        command.current_dir(home.at("")).output().unwrap()
    };
    succeeded(&run(&["install", "codex", "--serve", "--socket", socket]));
    let command = command_of(&home.read(".codex/hooks.json")["hooks"]["PreToolUse"][0]);
    assert_eq!(
        said(&hooked(&home, &command, &serde_json::from_str(&tool("Read")).unwrap())),
        NOTHING
    );
    let event: Value = serde_json::from_str(&tool("Bash")).unwrap();
    assert!(is_denied(&hooked(&home, &command, &event)));
    let doctor = run(&["doctor", "codex"]);
    let text = said(&doctor);
    assert!(text.contains("PreToolUse in a sub-agent"), "{text}");
    assert!(!text.contains("the server is down"), "{text}");

    drop(server.stopped());
    let passes: Value = serde_json::from_str(&tool("Read")).unwrap();
    assert!(is_denied(&hooked(&home, &command, &passes)));
    let text = said(&run(&["doctor", "codex"]));
    assert!(text.contains("! the server is down"), "{text}");
    assert!(text.contains(&format!("run: hooks-agent serve --socket {socket}")), "{text}");

    let both = run(&["install", "codex", "--serve", "--socket", socket, "--policy", "policy.toml"]);
    assert!(String::from_utf8(both.stderr).unwrap().contains("the policy is that of the server"));
}
