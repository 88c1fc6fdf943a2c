//! Requests for permission.

use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::tool::Permission;
use hooks_agent_policy::command::{CommandEntry, CommandHooks};
use serde_json::{Value, json};

use crate::agents::{Trial, hooks, says};

fn answers(decision: &Value) -> CommandHooks {
    let specific = json!({ "hookEventName": "PermissionRequest", "decision": decision });
    let line = says(&json!({ "hookSpecificOutput": specific }));
    hooks([CommandEntry::shell("PermissionRequest", line).named("clerk")])
}

#[tokio::test]
async fn a_command_answers_in_place_of_the_user() {
    let allow = answers(&json!({ "behavior": "allow" }));
    let trial = Trial::of(allow, Permission::Ask).await;
    assert_eq!(trial.result().output, "written");
    let deny = answers(&json!({ "behavior": "deny", "message": "not today" }));
    let trial = Trial::of(deny, Permission::Ask).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, "not today");
}

#[tokio::test]
async fn a_command_may_allow_other_arguments() {
    let decision = json!({ "behavior": "allow", "updatedInput": { "path": "b.txt" } });
    let trial = Trial::of(answers(&decision), Permission::Ask).await;
    assert_eq!(trial.ran, [json!({ "path": "b.txt" })]);
    assert_eq!(trial.result().ran.unwrap().input, json!({ "path": "b.txt" }));
}

#[tokio::test]
async fn a_command_without_a_decision_leaves_the_question_to_the_user() {
    let silent = hooks([CommandEntry::shell("PermissionRequest", "exit 0")]);
    let trial = Trial::of(silent, Permission::Ask).await;
    assert_eq!(trial.reply.reason, Some(GenerateReason::PermissionAsking));
    assert!(trial.ran.is_empty());
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_allowed_or_denied() {
    let failing = || hooks([CommandEntry::shell("PermissionRequest", "exit 2")]);
    let trial = Trial::of(failing(), Permission::Allow).await;
    assert_eq!(trial.result().output, "written");
    let trial = Trial::of(failing(), Permission::Deny("off".to_owned())).await;
    assert_eq!(trial.result().output, "off");
}

#[tokio::test]
async fn a_command_that_fails_denies() {
    let failing = hooks([CommandEntry::shell("PermissionRequest", "exit 1").named("clerk")]);
    let trial = Trial::of(failing, Permission::Ask).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, "hook `clerk` could not check this call");
}

#[tokio::test]
async fn a_command_may_end_the_call() {
    let line = says(&json!({ "continue": false, "stopReason": "audit" }));
    let trial = Trial::of(hooks([CommandEntry::shell("PermissionRequest", line)]), Permission::Ask);
    let trial = trial.await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.reply.reason, Some(GenerateReason::HookEnded));
    assert_eq!(trial.reply.metadata["stop_reason"], "audit");
}
