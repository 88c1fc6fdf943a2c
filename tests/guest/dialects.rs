//! The names of events, and events of agents that are not served.

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use hooks_agent_policy::command::{HookDecision, Input, Output, PermissionDecision};
use serde_json::{Value, json};

use crate::program::{NOTHING, guarded};
use crate::sources::{decide, event, guard, permission, post_tool_use, pre_tool_use};

/// The event by another name.
fn named(mut input: Input, name: &str) -> Input {
    name.clone_into(&mut input.hook_event_name);
    input
}

#[tokio::test]
async fn the_events_of_this_crate_are_decided_as_those_of_coding_agents() {
    let refuses = guard(on(|event: &mut PreActing<'_>| event.refuse("no shell")));
    let input = named(pre_tool_use("1", "Bash", json!({})), "PRE_ACTING");
    let output = decide(&refuses, &input).await;
    assert_eq!(permission(&output), Some((PermissionDecision::Deny, "no shell".into())));
    assert_eq!(output.hook_specific_output.unwrap().hook_event_name, "PRE_ACTING");

    let redacts = guard(PiiDetection::email().tool_results(true));
    let input = named(post_tool_use("Read", json!("ada@example.com")), "POST_ACTING");
    let specific = decide(&redacts, &input).await.hook_specific_output.unwrap();
    assert_eq!(specific.updated_tool_output.unwrap(), "[REDACTED_EMAIL]");
    assert_eq!(specific.hook_event_name, "POST_ACTING");

    let mut input = event("PRE_CALL");
    assert_eq!(decide(&redacts, &input).await, Output::default());
    input.prompt = Some("write to ada@example.com".into());
    assert_eq!(decide(&redacts, &input).await.decision, Some(HookDecision::Block));
}

#[tokio::test]
async fn an_event_at_which_nothing_is_decided_and_that_can_be_blocked_is() {
    let guard = guard(on(|_: &mut PreActing<'_>| {}));
    for name in ["PRE_REASONING", "POST_REASONING", "PRE_SUMMARY", "POST_SUMMARY", "POST_CALL"] {
        let output = decide(&guard, &event(name)).await;
        assert_eq!(output.decision, Some(HookDecision::Block), "{name}");
        assert!(output.reason.unwrap().contains("write it at `PRE_ACTING`"), "{name}");
    }
    for name in ["REASONING_CHUNK", "ACTING_CHUNK", "ERROR", "SETTLED"] {
        assert_eq!(decide(&guard, &event(name)).await, Output::default(), "{name}");
    }
}

#[tokio::test]
async fn an_event_of_another_contract_is_blocked() {
    let guard = guard(on(|_: &mut PreActing<'_>| {}));
    for name in ["BeforeTool", "AfterTool", "preToolUse", "beforeShellExecution", "Tomorrow"] {
        let output = decide(&guard, &event(name)).await;
        assert_eq!((output.continues, output.decision), (Some(false), Some(HookDecision::Block)));
        assert!(output.reason.unwrap().contains(name));
    }
    let mut input = pre_tool_use("1", "Bash", json!({}));
    input.other.insert("turn_id".into(), json!("t-1"));
    assert_eq!(permission(&decide(&guard, &input).await).unwrap().0, PermissionDecision::Deny);
    let mut input = post_tool_use("Read", json!("hunter2"));
    input.other.insert("turn_id".into(), json!("t-1"));
    let output = serde_json::to_string(&decide(&guard, &input).await).unwrap();
    assert!(output.contains("withheld") && !output.contains("hunter2"), "{output}");
}

#[test]
fn the_program_refuses_another_contract_in_every_form_that_agents_read() {
    let event = |name: &str, more: Value| {
        let mut event = json!({ "hook_event_name": name, "session_id": "s", "tool_name": "shell" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event.to_string()
    };
    for (name, more) in [("BeforeTomorrow", json!({})), ("preToolUse", json!({}))] {
        let output = guarded("version = 1\n", &event(name, more));
        assert_eq!(output.status.code(), Some(2));
        let reason = String::from_utf8(output.stderr).unwrap();
        assert!(reason.contains("does not serve") && reason.contains(name), "{reason}");
        let fields: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(fields["continue"], false);
        assert_eq!(fields["decision"], "block");
        assert_eq!(fields["reason"].as_str(), Some(reason.trim()));
        assert_eq!(
            (&fields["permission"], &fields["permissionDecision"]),
            (&json!("deny"), &json!("deny"))
        );
        assert_eq!(fields["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(fields["hookSpecificOutput"]["hookEventName"], name);
    }
    for name in ["TeammateIdle", "SessionEnd"] {
        let output = guarded("version = 1\n", &event(name, json!({})));
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), NOTHING.as_bytes()));
    }
}
