//! Guards of real agents' settings that fail: each event is blocked, in the form of its agent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hooks_agent_guest::{Answer, Canary, Dialect, Unread};
use serde_json::Value;

use crate::installed::{AGENTS, Home, command_of, replaced, succeeded};
use crate::program::PROGRAM;

/// An agent with a guard, and the command line of each of its events.
struct Guarded {
    home: Home,
    agent: Dialect,
    lines: Vec<(String, String)>,
}

impl Guarded {
    fn all() -> Vec<Self> {
        let mut all: Vec<_> =
            AGENTS.iter().map(|(name, path)| Self::by_settings(name, path)).collect();
        all.push(Self::by_files("cline", &["PreToolUse", "PostToolUse"]));
        all.push(Self::by_files(
            "opencode",
            &["chat.message", "tool.execute.before", "tool.execute.after"],
        ));
        all
    }

    fn by_settings(name: &str, path: &str) -> Self {
        let home = Home::new();
        succeeded(&home.install(name));
        let settings = home.read(path);
        let events = settings["hooks"].as_object().unwrap();
        let lines = events.iter().map(|(event, entries)| (event.clone(), command_of(&entries[0])));
        Self { lines: lines.collect(), agent: name.parse().unwrap(), home }
    }

    fn by_files(name: &str, events: &[&str]) -> Self {
        let home = Home::new();
        succeeded(&home.install(name));
        let line = |event: &&str| match name {
            "cline" => {
                (event.to_string(), home.at(&format!(".cline/hooks/{event}")).display().to_string())
            }
            _ => (
                event.to_string(),
                format!("sh '{}' {event}", home.at(".config/hooks-agent/opencode.sh").display()),
            ),
        };
        Self { lines: events.iter().map(line).collect(), agent: name.parse().unwrap(), home }
    }

    fn script(&self) -> std::path::PathBuf {
        self.home.at(&format!(".config/hooks-agent/{}.sh", self.agent))
    }

    /// Expects that each event is blocked. `prefix` is what the shell does before, and `event` makes what it reads.
    fn expect_blocked(&self, failure: &str, prefix: &str, event: fn(&Canary) -> Vec<u8>) {
        for (name, line) in &self.lines {
            let canary = self.agent.canaries(name).remove(0);
            let output =
                run(self.home.at("").as_path(), &format!("{prefix}{line}"), &event(&canary));
            // Where the event could not be read, its form is that of one without fields.
            let unread =
                Unread::named(std::io::empty(), Some(self.agent), Some(name), "why").answer();
            let is_blocked = is_refusal(&canary.expected, &output) || is_refusal(&unread, &output);
            assert!(is_blocked, "{}, {name}, {failure}: {output:?}", self.agent);
        }
    }
}

fn run(folder: &Path, line: &str, event: &[u8]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env_clear().env("PATH", "/usr/bin:/bin").current_dir(folder);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), event);
    child.wait_with_output().unwrap()
}

/// The event itself, which every policy passes but for its canary: of another session.
fn event(canary: &Canary) -> Vec<u8> {
    canary.fields.to_string().replace("hooks-agent-doctor", "s").into_bytes()
}

/// Whether an answer is this refusal, with whatever reason.
fn is_refusal(expected: &Answer, output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stdout);
    let has_json = match &expected.json {
        None => said.trim().is_empty() && !output.stderr.is_empty(),
        Some(json) => {
            serde_json::from_str(&said).is_ok_and(|it: Value| decision(&it) == decision(json))
        }
    };
    has_json && output.status.code() == Some(expected.code.into())
}

/// An answer without its reasons.
fn decision(answer: &Value) -> Value {
    match answer {
        Value::String(text) if text.contains(' ') => "..".into(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), decision(value))).collect()
        }
        other => other.clone(),
    }
}

/// Puts another program in the place of the guard.
fn stand_in(guarded: &Guarded, body: &str) {
    let dead = guarded.home.at("dead");
    fs::write(&dead, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&dead, PermissionsExt::from_mode(0o755)).unwrap();
    replaced(&guarded.script(), PROGRAM, dead.to_str().unwrap());
}

#[test]
fn a_guard_that_is_killed_fails_or_is_silent_blocks_each_event_of_each_agent() {
    for (failure, body) in [
        ("killed", "kill -9 $$"),
        ("stopped by the system", "kill -15 $$"),
        ("failed", "exit 1"),
        ("without memory", "exit 137"),
        ("failed after it let pass", "echo '{}'; exit 3"),
    ] {
        for guarded in Guarded::all() {
            stand_in(&guarded, body);
            guarded.expect_blocked(failure, "", event);
        }
    }
}

#[test]
fn a_guard_or_a_script_that_is_gone_blocks_each_event_of_each_agent() {
    for guarded in Guarded::all() {
        replaced(&guarded.script(), PROGRAM, "/no/such/program");
        guarded.expect_blocked("the guard is gone", "", event);
        if guarded.agent.name() != "opencode" {
            // A plug-in throws by itself.
            fs::remove_file(guarded.script()).unwrap();
            guarded.expect_blocked("the script is gone", "", event);
        }
    }
}

#[test]
fn a_policy_or_a_state_that_cannot_be_used_blocks_each_event_of_each_agent() {
    for guarded in Guarded::all() {
        // At an event about settings no policy is read.
        let policy = guarded.home.at("policy.toml");
        let right = fs::read_to_string(&policy).unwrap();
        fs::write(&policy, "version = 1\n[limts]\n").unwrap();
        guarded.expect_blocked("a broken policy", "", event);
        fs::remove_file(&policy).unwrap();
        guarded.expect_blocked("no policy", "", event);
        fs::write(&policy, right).unwrap();
        // Files may have no byte more, as on a disk that is full.
        guarded.expect_blocked("a full disk", "trap '' XFSZ; ulimit -f 0; ", event);
        fs::create_dir(guarded.home.at("threads.db"))
            .or_else(|_| {
                fs::remove_file(guarded.home.at("threads.db"))?;
                fs::create_dir(guarded.home.at("threads.db"))
            })
            .unwrap();
        guarded.expect_blocked("no state", "", event);
    }
}

#[test]
fn an_event_that_cannot_be_read_blocks_each_event_of_each_agent() {
    for guarded in Guarded::all() {
        guarded.expect_blocked("nothing", "", |_| Vec::new());
        guarded.expect_blocked("garbage", "", |_| b"\xff\xfe{{{".to_vec());
        guarded.expect_blocked("a list", "", |_| b"[]".to_vec());
        guarded.expect_blocked("cut", "", |canary| {
            let event = event(canary);
            event[..event.len() - 3].to_vec()
        });
    }
    let mut guarded = Guarded::by_settings("claude", ".claude/settings.json");
    guarded.lines.retain(|(event, _)| event == "PreToolUse");
    guarded.expect_blocked("100 MB", "", |canary| {
        let mut event = event(canary);
        let end = event.pop().unwrap();
        event.extend_from_slice(b",\"more\":\"");
        event.resize(100 * 1024 * 1024, b'x');
        event.extend_from_slice(&[b'"', end]);
        event
    });
}

#[test]
fn an_answer_that_nobody_can_read_ends_with_the_exit_code_that_blocks() {
    for guarded in Guarded::all() {
        for (name, line) in &guarded.lines {
            let canary = guarded.agent.canaries(name).remove(0);
            let output = run(
                guarded.home.at("").as_path(),
                &format!("exec >&-; {line}"),
                &canary.fields.to_string().into_bytes(),
            );
            if guarded.agent.name() == "cline" {
                // It reads no exit code: with nothing said it goes on, as its guide says.
                continue;
            }
            assert_ne!(output.status.code(), Some(0), "{}, {name}", guarded.agent);
        }
    }
}
