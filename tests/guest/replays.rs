//! `hooks-agent replay` and `hooks-agent trust`, on tapes of agents that the program does not know.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_replay::Tape;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, script, uses};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::PROGRAM;

/// Records a run in which the model calls the tool `echo` twice.
async fn recorded() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let tape = Tape::record(&path).open().unwrap();
    let (model, _) =
        script([uses([echo("1", "ada@example.com")]), uses([echo("2", "b")]), "done".into()]);
    let builder =
        ReActAgent::builder("clerk").model(model).tool(echo_tool(&Arc::new(Records::new())));
    let agent = builder.hook(tape.clone()).build().unwrap();
    agent.call(go()).await.unwrap();
    tape.finish().unwrap();
    (folder, path)
}

fn replay(folder: &Path, tape: &Path, policy: &str, options: &[&str]) -> Output {
    let file = folder.join("policy.toml");
    std::fs::write(&file, policy).unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("replay").arg(tape).arg("--policy").arg(file).args(options);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn a_policy_that_changes_no_decision_ends_with_0() {
    let (folder, tape) = recorded().await;
    let policy = "version = 1\n[limits]\nmax_iters = 50\ndeny_tools = [\"delete\"]\n";
    let output = replay(folder.path(), &tape, policy, &[]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("agent clerk") && printed.contains("0 of 1 runs"), "{printed}");
}

#[tokio::test]
async fn a_policy_that_refuses_a_recorded_tool_call_ends_with_1() {
    let (folder, tape) = recorded().await;
    let policy = "version = 1\n[limits]\ndeny_tools = [\"echo\"]\n";
    let output = replay(folder.path(), &tape, policy, &[]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}{}", text(&output.stderr));
    for part in ["decision_changed", "tool_missing", "1 of 1 runs"] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }

    let output = replay(folder.path(), &tape, policy, &["--json"]);
    let runs: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(runs["runs"][0]["agent"], "clerk");
    let entries = runs["runs"][0]["drift"]["entries"].as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["kind"] == "tool_missing"), "{runs}");
}

#[tokio::test]
async fn a_limit_of_a_policy_is_tried_on_the_recorded_run() {
    let (folder, tape) = recorded().await;
    let policy = "version = 1\n[[hook]]\nuse = \"tool_call_limit\"\nwith = { run = 1 }\n";
    let output = replay(folder.path(), &tape, policy, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let runs: Value = serde_json::from_slice(&output.stdout).unwrap();
    let entries = runs["runs"][0]["drift"]["entries"].as_array().unwrap();
    let missing: Vec<_> = entries.iter().filter(|entry| entry["kind"] == "tool_missing").collect();
    assert_eq!(missing.len(), 1, "{runs}");
}

#[tokio::test]
async fn what_cannot_be_read_ends_with_2() {
    let (folder, tape) = recorded().await;
    let broken = replay(folder.path(), &tape, "version = 2\n", &[]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(text(&broken.stderr).contains("expected `version = 1`"));

    let bytes = std::fs::read(&tape).unwrap();
    std::fs::write(&tape, &bytes[..bytes.len() - 9]).unwrap();
    let cut = replay(folder.path(), &tape, "version = 1\n", &[]);
    assert_eq!(cut.status.code(), Some(2));
    assert!(text(&cut.stderr).contains("line"), "{}", text(&cut.stderr));

    let none = Command::new(PROGRAM).arg("replay").arg(&tape).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn trusted_commands_are_read_by_check() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, trust) = (folder.path().join("policy.toml"), folder.path().join("trust.json"));
    let command = "version = 1\n[[command]]\nevent = \"PreToolUse\"\nexec = [\"true\"]\n";
    std::fs::write(&policy, command).unwrap();
    let check = || {
        let mut check = Command::new(PROGRAM);
        check.arg("check").arg(&policy).arg("--trust").arg(&trust).output().unwrap()
    };
    let refused = check();
    assert_eq!(refused.status.code(), Some(1));
    let errors = text(&refused.stderr);
    let hash = &errors[errors.find("sha256:").unwrap()..][..71];

    let trusted = Command::new(PROGRAM).args(["trust", hash, "--file"]).arg(&trust).output();
    assert_eq!(trusted.unwrap().status.code(), Some(0));
    assert_eq!(check().status.code(), Some(0));

    let wrong = Command::new(PROGRAM).args(["trust", "abc", "--file"]).arg(&trust).output();
    assert_eq!(wrong.unwrap().status.code(), Some(1));
}

#[tokio::test]
async fn a_policy_in_shadow_changes_no_run_and_says_what_it_would_have_done() {
    let (folder, tape) = recorded().await;
    let policy = "version = 1\n[limits]\ndeny_tools = [\"echo\"]\n";
    let output = replay(folder.path(), &tape, policy, &["--shadow"]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
    let expected = "2 would have refused";
    assert!(printed.contains("in shadow: policy limits in shadow: "), "{printed}");
    assert!(printed.contains(expected) && printed.contains("0 of 1 runs"), "{printed}");
    let output = replay(folder.path(), &tape, policy, &["--shadow", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["shadow"]["policy limits in shadow"]["refused"], 2);
}

#[tokio::test]
async fn one_rule_in_shadow_is_counted_by_its_name() {
    let (folder, tape) = recorded().await;
    let policy = "version = 1\n[[rule]]\nname = \"mails\"\ntools = [\"echo\"]\n\
        when = 'args.text == \"b\"'\nthen = \"deny\"\nmode = \"shadow\"\n";
    let output = replay(folder.path(), &tape, policy, &[]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
    let expected = "in shadow: the rule \"mails\": 2 runs, 1 would have refused";
    assert!(printed.contains(expected) && printed.contains("0 of 1 runs"), "{printed}");
}
