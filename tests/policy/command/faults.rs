//! Commands that fail in every way: each blocks, and none hangs.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Probe;
use hooks_agent_policy::command::{CommandEntry, OnFailure};
use serde_json::json;
use tracing::Level;

use crate::agents::{Log, assert_has, before_tools, hooks};
use crate::group::Group;

/// Asserts that the command fails for this reason, which the log has and the model does not.
async fn assert_fails(entry: CommandEntry, why: &str) {
    let log = Log::up_to(Level::WARN);
    let probe = Probe::new(hooks([entry.named("guard")]));
    let seen = probe.pre_acting(ToolUse::new("1", "write_file", json!({}))).await.unwrap();
    seen.assert_refused("hook `guard` could not check this call");
    assert_has(&log.take(), why);
}

#[tokio::test]
async fn a_command_that_never_ends_is_ended_with_its_group() {
    let group = Group::new();
    let line = format!("{}sleep 60 & sleep 60", group.joins);
    let entry = before_tools(&line).timeout(Duration::from_millis(300));
    assert_fails(entry, "it did not end within 300ms").await;
    group.assert_ends().await;
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed() {
    let group = Group::new();
    let line = format!("trap '' TERM; {}while :; do sleep 60; done", group.joins);
    let entry = before_tools(&line).timeout(Duration::from_millis(300));
    assert_fails(entry, "it did not end within").await;
    group.assert_ends().await;
}

#[tokio::test]
async fn a_flood_of_output_ends_the_command() {
    let group = Group::new();
    let start = Instant::now();
    let entry = before_tools(&format!("{}yes", group.joins));
    assert_fails(entry, "more than 1048576 bytes").await;
    assert!(start.elapsed() < Duration::from_secs(20));
    group.assert_ends().await;
}

#[tokio::test]
async fn a_flood_of_errors_is_read_and_its_beginning_is_the_reason() {
    let line = "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 2";
    let probe = Probe::new(hooks([before_tools(line)]));
    let seen = probe.pre_acting(ToolUse::new("1", "write_file", json!({}))).await.unwrap();
    seen.assert_refused(&"x".repeat(10_000)).assert_refused("more characters were cut");
}

#[tokio::test]
async fn half_a_json_is_a_failure() {
    assert_fails(
        before_tools(r#"printf '{"decision":'"#),
        "standard output is no answer, at line 1, column 12: expected JSON",
    )
    .await;
}

#[tokio::test]
async fn a_wrong_type_of_a_known_field_is_a_failure() {
    for output in [
        r#"{"continue": "yes"}"#,
        r#"{"decision": "reject"}"#,
        r#"{"reason": 1}"#,
        r#"{"hookSpecificOutput": []}"#,
        r#"{"hookSpecificOutput": {}}"#,
        r#"{"hookSpecificOutput": {"hookEventName":"PreToolUse","permissionDecision":"Deny"}}"#,
        r#"{"hookSpecificOutput": {"hookEventName":"PreToolUse","updatedInput":[]}}"#,
        r#"{"decision": "block", "decision": "approve"}"#,
    ] {
        let line = format!("printf '%s' '{output}'");
        assert_fails(before_tools(&line), "a command failed").await;
    }
}

#[tokio::test]
async fn invalid_utf_8_is_a_failure() {
    assert_fails(before_tools("printf '\\377\\376'"), "no UTF-8").await;
    assert_fails(before_tools("printf '{\"reason\":\"\\377\"}'"), "no UTF-8").await;
}

#[tokio::test]
async fn the_end_by_a_signal_is_a_failure() {
    assert_fails(before_tools("kill -9 $$"), "signal 9 ended it").await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_failure() {
    assert_fails(before_tools("no-such-program-of-hooks"), "exit code 127").await;
    let entry = CommandEntry::exec("PreToolUse", ["no-such-program-of-hooks"]);
    assert_fails(entry, "it did not start: ").await;
}

#[tokio::test]
async fn a_program_that_is_not_executable_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guard");
    std::fs::write(&file, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let entry = CommandEntry::exec("PreToolUse", [file.to_str().unwrap()]);
    assert_fails(entry, "it did not start: ").await;
}

#[test]
fn without_a_runtime_every_command_is_a_failure() {
    futures::executor::block_on(assert_fails(before_tools("exit 0"), "no tokio runtime"));
}

#[tokio::test]
async fn a_refusal_in_an_answer_that_is_none_is_a_refusal() {
    let specific = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    let other = r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny"},"reason":"no"}"#;
    for (answer, code) in [
        (r#"{"decision":"block","reason":"no"}"#, 1),
        (specific, 1),
        (specific, 127),
        (r#"{"decision":"block","reason":"no","stop_reason":"x"}"#, 0),
        (r#"{"decision":"block","reason":"no","permission":"deny"}"#, 0),
        (r#"{"permission":"deny","reason":"no"}"#, 0),
        (r#"{"decision":"deny","reason":"no"}"#, 0),
        (r#"{"decision":{"behavior":"deny"},"reason":"no"}"#, 0),
        (r#"{"decision":"block","decision":"block","reason":"no"}"#, 0),
        (other, 0),
    ] {
        let entry = before_tools(&format!("printf '%s' '{answer}'; exit {code}"));
        let probe = Probe::new(hooks([entry.on_failure(OnFailure::Continue)]));
        let seen = probe.pre_acting(ToolUse::new("1", "write_file", json!({}))).await.unwrap();
        seen.assert_refused("no");
    }
    for answer in [r#"{"decision":"approve"}"#, r#"{"reason":"deny"}"#, "deny"] {
        let entry = before_tools(&format!("printf '%s' '{answer}'; exit 1"));
        let probe = Probe::new(hooks([entry.on_failure(OnFailure::Continue)]));
        let seen = probe.pre_acting(ToolUse::new("1", "write_file", json!({}))).await.unwrap();
        seen.assert_continues();
    }
}

#[tokio::test]
async fn a_failure_that_may_continue_warns_and_decides_nothing() {
    let log = Log::up_to(Level::WARN);
    let entry = before_tools("exit 3").on_failure(OnFailure::Continue);
    let probe = Probe::new(hooks([entry]));
    let seen = probe.pre_acting(ToolUse::new("1", "write_file", json!({}))).await.unwrap();
    seen.assert_continues();
    assert_has(&log.take(), "exit code 3");
}
