//! The JSON of both sides.

use hooks_agent::command::{CommandEvent, Input, Output};
use hooks_agent::event::EventKind;
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
