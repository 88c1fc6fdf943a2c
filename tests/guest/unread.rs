//! Events that the program cannot read: results of tools are withheld, for every reason.

use std::process::Output;

use serde_json::{Value, json};

use crate::program::{NOTHING, guarded, run};

const POLICY: &str = "version = 1\n";

/// Asserts that the result is withheld, and says why on standard error.
#[track_caller]
fn assert_withheld(output: &Output, event: &str, why: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains(why), "{stderr}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["decision"], "block");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
    let left = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(left, "[withheld: the guard could not check the result]");
}

fn event(name: &str, response: &str) -> String {
    format!(
        r#"{{"session_id":"s","hook_event_name":"{name}","tool_name":"Read","tool_input":{{}},
        "tool_response":{response}}}"#
    )
}

#[test]
fn a_result_that_is_nested_too_deeply_is_withheld_wherever_the_name_stands() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let output = guarded(POLICY, &event("PostToolUse", &deep));
    assert_withheld(&output, "PostToolUse", "at most 127 arrays and objects");
    let last = format!(
        r#"{{"tool_response":{deep},"tool_name":"Read","session_id":"s","hook_event_name":"POST_ACTING"}}"#
    );
    assert_withheld(&guarded(POLICY, &last), "POST_ACTING", "at most 127 arrays and objects");
}

#[test]
fn a_result_with_a_field_of_another_type_or_that_is_cut_is_withheld() {
    let whole = event("PostToolUse", "\"hunter2\"");
    let of_type = whole.replacen("\"Read\"", "{}", 1);
    assert_withheld(&guarded(POLICY, &of_type), "PostToolUse", "`tool_name`: expected a text");
    let cut = &whole[..whole.len() - 4];
    assert_withheld(&guarded(POLICY, cut), "PostToolUse", "EOF while parsing");
    let no_session = whole.replacen("\"s\"", "\"\"", 1);
    assert_withheld(&guarded(POLICY, &no_session), "PostToolUse", "no `session_id`");
}

#[test]
fn a_result_that_is_too_long_is_withheld() {
    let long = format!("\"{}\"", "a".repeat(64 * 1024 * 1024));
    assert_withheld(&guarded(POLICY, &event("PostToolUse", &long)), "PostToolUse", "more than");
}

#[test]
fn a_result_is_withheld_if_the_arguments_of_the_program_are_wrong() {
    let output = run(&["guard", "--polcy", "p"], &event("PostToolUse", "1"));
    assert_withheld(&output, "PostToolUse", "--policy");
    let output = run(&["guard"], &event("PostToolUse", "1"));
    assert_withheld(&output, "PostToolUse", "no policy file");
}

#[test]
fn the_end_of_a_turn_that_cannot_be_checked_ends_the_run_and_does_not_send_the_model_on() {
    for name in ["Stop", "SubagentStop"] {
        let event = format!(r#"{{"session_id":"s","hook_event_name":"{name}"}}"#);
        for output in [run(&["guard"], &event), guarded("version = 99\n", &event)] {
            assert_eq!(output.status.code(), Some(0));
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            let reason = "the guard could not check the end of the turn";
            assert_eq!(answer, json!({ "continue": false, "stopReason": reason }));
        }
    }
}

#[test]
fn what_is_nested_in_a_tool_call_does_not_name_its_event() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let input = format!(
        r#"{{"session_id":"s","tool_input":{{"hook_event_name":"PostToolUse","x":{deep}}},
        "hook_event_name":"PreToolUse","tool_name":"Read"}}"#
    );
    let output = guarded(POLICY, &input);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn a_fraction_of_a_millisecond_is_no_reason_to_withhold_a_result() {
    let mut event: Value = serde_json::from_str(&event("PostToolUse", "\"text\"")).unwrap();
    event["duration_ms"] = json!(12.5);
    let output = guarded(POLICY, &event.to_string());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), NOTHING.as_bytes()), "{stderr}");
}
