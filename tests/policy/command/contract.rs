//! The JSON of both sides.

use hooks_agent_core::event::EventKind;
use hooks_agent_policy::command::{CommandEvent, Input, Output};
use serde_json::json;

#[test]
fn an_input_of_another_agent_is_read_and_written_as_it_was() {
    let text = json!({
        "hook_event_name": "TeammateIdle", "session_id": "s", "transcript_path": "/t.jsonl",
        "cwd": "/p", "teammate_name": "bob", "tool_response": "plain",
    });
    let input: Input = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(input.other["teammate_name"], "bob");
    assert!(input.hook_event_name.parse::<CommandEvent>().is_err());
    assert_eq!(serde_json::to_value(input).unwrap(), text);
}

#[test]
fn an_output_tolerates_unknown_fields_and_no_other_types() {
    let text = r#"{"color": 1, "hookSpecificOutput": {"hookEventName": "Stop", "sound": true}}"#;
    assert!(Output::parse(text).is_ok());
    for text in ["[]", "1", "{", r#"{"suppressOutput": 1}"#, r#"{"systemMessage": {}}"#] {
        assert!(Output::parse(text).is_err(), "{text}");
    }
    let error = Output::parse("{\"reason\":\n  [\"secret\"]}").unwrap_err();
    assert!(!error.to_string().contains("secret"));
    assert_eq!(error.line, 2);
}

#[test]
fn names_of_events_are_read_back() {
    let own = EventKind::ALL.into_iter().map(CommandEvent::Own);
    for event in CommandEvent::THEIRS.into_iter().chain(own) {
        assert_eq!(event.name().parse(), Ok(event));
    }
}

#[test]
fn misspelt_fields_are_failures_and_others_are_not() {
    for text in [
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecison": "deny"}}"#,
        r#"{"descision": "block"}"#,
        r#"{"Continue": false}"#,
    ] {
        let error = Output::parse(text).unwrap_err().to_string();
        assert!(error.contains("did you mean"), "{error}");
    }
    let error = Output::parse(r#"{"hookSpecificOutput": {}}"#).unwrap_err().to_string();
    assert!(error.contains("missing field `hookEventName`"), "{error}");
    for text in [r#"{"color": 1}"#, r#"{"region": "eu"}"#, r#"{"reason": "because"}"#] {
        Output::parse(text).unwrap();
    }
}

#[test]
fn a_misspelt_event_says_which_one_was_meant() {
    let error = "PreTooluse".parse::<CommandEvent>().unwrap_err();
    assert_eq!(error.near(), Some(CommandEvent::PreToolUse));
    assert!(error.to_string().contains("did you mean `PreToolUse`?"));
    assert_eq!("Tomorrow".parse::<CommandEvent>().unwrap_err().near(), None);
}

#[test]
fn an_error_of_an_output_says_the_field_what_was_found_and_what_is_taken() {
    for (text, expected) in [
        (r#"{"decision": "deny"}"#, "`decision`: expected `block` or `approve`, found `deny`"),
        (r#"{"decision": "hunter2"}"#, "`decision`: expected `block` or `approve`, found another"),
        (r#"{"continue": "yes"}"#, "`continue`: expected `true` or `false`, found another text"),
        (r#"{"reason": ["hunter2"]}"#, "`reason`: expected a text, found an array"),
        (r#"["hunter2"]"#, "expected a JSON object, found an array"),
        (r#"{"reason": "hunter2"#, "expected JSON: EOF while parsing a string"),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"Deny"}}"#,
            "`hookSpecificOutput.permissionDecision`: expected `allow` or `deny` or `ask` or \
             `defer`, found `Deny`",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":1}}}"#,
            "`hookSpecificOutput.decision.behavior`: expected `allow` or `deny`, found a number",
        ),
        (r#"{"decision": "block", "decision": "approve"}"#, "duplicate field `decision`"),
        (r#"{"updatedToolOutput": "hunter2"}"#, "belongs in `hookSpecificOutput`"),
        (r#"{"updatedInput": {}}"#, "belongs in `hookSpecificOutput`"),
        (r#"{"permission": "deny"}"#, "as `permissionDecision`"),
    ] {
        let error = Output::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("hunter2"), "{text}: {error}");
    }
    let deep = format!(r#"{{"reason": {}{}}}"#, "[".repeat(200), "]".repeat(200));
    let error = Output::parse(&deep).unwrap_err().to_string();
    assert!(error.contains("at most 127 arrays and objects"), "{error}");
}

#[test]
fn an_error_of_an_input_says_the_field_what_was_found_and_what_is_taken() {
    for (text, expected) in [
        (
            r#"{"prompt": 1, "cwd": []}"#,
            "`cwd`: expected a text, found an array; `prompt`: expected",
        ),
        (r#"{"duration_ms": "hunter2"}"#, "`duration_ms`: expected a number, found another text"),
        ("[]", "expected a JSON object, found an array"),
        ("{", "expected JSON: EOF while parsing an object"),
    ] {
        let error = Input::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("hunter2"), "{text}: {error}");
    }
    let input = |text: &str| Input::parse(text.as_bytes()).unwrap();
    assert_eq!(input(r#"{"duration_ms": 12.9}"#).duration_ms, Some(12));
    assert_eq!(input(r#"{"duration_ms": 7}"#).duration_ms, Some(7));
    assert_eq!(input(r#"{"duration_ms": null}"#).duration_ms, None);
    assert_eq!(input("{}").duration_ms, None);
}
