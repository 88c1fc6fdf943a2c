//! Decisions about tool calls.

use hooks_agent_core::message::{GenerateReason, PendingReason};
use hooks_agent_core::prelude::*;
use hooks_agent_core::tool::Permission;
use hooks_agent_policy::command::{CommandHooks, Layer, OnFailure};
use serde_json::json;
use tracing::Level;

use crate::agents::{
    Log, Ran, Trial, assert_has, before_tools, decides, dir, hooks, says, write_file, writes,
};

const UNCHECKED: &str = "hook `guard` could not check this call";

/// CH-01.
#[tokio::test]
async fn a_command_that_says_nothing_changes_nothing() {
    let trial = Trial::of(hooks([before_tools("exit 0")]), Permission::Allow).await;
    assert_eq!(trial.ran, [json!({ "path": "a.txt" })]);
    assert_eq!(trial.result().output, "written");
    assert_eq!(trial.reply.text(), "Done.");
}

/// CH-02.
#[tokio::test]
async fn exit_two_refuses_with_stderr() {
    let guard = before_tools("echo 'no writes' >&2; exit 2");
    let trial = Trial::of(hooks([guard]), Permission::Allow).await;
    assert!(trial.ran.is_empty() && trial.result().is_error);
    assert_eq!(trial.result().output, "no writes");
}

/// CH-03.
#[tokio::test]
async fn exit_two_without_stderr_refuses_with_the_name_of_the_hook() {
    let trial = Trial::of(hooks([before_tools("exit 2")]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, "blocked by hook `guard`");
}

/// CH-04.
#[tokio::test]
async fn exit_two_refuses_whatever_stdout_says() {
    let allow = decides(&json!({ "permissionDecision": "allow" }));
    let trial =
        Trial::of(hooks([before_tools(&format!("{allow}; exit 2"))]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, "blocked by hook `guard`");
}

#[tokio::test]
async fn exit_two_without_stderr_has_the_reason_of_its_json() {
    let deny = decides(&json!({ "permissionDecisionReason": "from the JSON" }));
    let trial =
        Trial::of(hooks([before_tools(&format!("{deny}; exit 2"))]), Permission::Allow).await;
    assert_eq!(trial.result().output, "from the JSON");
}

/// CH-05, of the program's own entries.
#[tokio::test]
async fn a_failure_blocks_and_its_stderr_stays_out_of_the_conversation() {
    let guard = before_tools("echo 'Traceback: secret' >&2; exit 1");
    let reports = Log::up_to(Level::INFO);
    let trial = Trial::of(hooks([guard]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, UNCHECKED);
    let reports = reports.take();
    assert_has(&reports, "exit code 1");
    assert!(!reports.contains("secret") && !format!("{:?}", trial.memory).contains("secret"));
}

/// CH-05, of imported settings.
#[tokio::test]
async fn a_failure_of_imported_settings_goes_on_with_one_warning_at_opening() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    let handler = json!({ "type": "command", "command": "exit 1" });
    let settings = json!({ "hooks": { "PreToolUse": [{ "hooks": [handler] }] } });
    std::fs::write(&file, settings.to_string()).unwrap();
    let reports = Log::up_to(Level::WARN);
    let hooks = CommandHooks::builder(dir()).settings(&file, Layer::User).open().unwrap();
    let warnings = reports.take();
    assert_eq!(warnings.matches("onFailure").count(), 1, "{warnings}");
    let trial = Trial::of(hooks, Permission::Allow).await;
    assert_eq!(trial.ran.len(), 1);
    assert_eq!(reports.take().matches("a command failed").count(), 1);
}

/// CH-06.
#[tokio::test]
async fn a_rewrite_reaches_the_tool_and_memory_keeps_the_models_call() {
    let rewrite = json!({ "permissionDecision": "allow", "updatedInput": { "path": "b" } });
    let trial = Trial::of(hooks([before_tools(&decides(&rewrite))]), Permission::Allow).await;
    assert_eq!(trial.ran, [json!({ "path": "b" })]);
    let call = trial.memory.iter().find_map(|msg| msg.tool_uses().next()).unwrap();
    assert_eq!(call.input, json!({ "path": "a.txt" }));
    assert_eq!(trial.result().ran.unwrap().input, json!({ "path": "b" }));
}

/// CH-07.
#[tokio::test]
async fn the_name_of_another_event_is_a_failure() {
    let line = decides(&json!({ "updatedInput": { "path": "b" } }));
    let line = line.replace("\"PreToolUse\"", "\"PostToolUse\"");
    let trial = Trial::of(hooks([before_tools(&line)]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, UNCHECKED);
}

/// CH-10.
#[tokio::test]
async fn allow_spares_the_question_and_does_not_undo_a_denial() {
    let allow = || hooks([before_tools(&decides(&json!({ "permissionDecision": "allow" })))]);
    let denied = Permission::Deny("the tool is off".to_owned());
    let trial = Trial::of(allow(), denied).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, "the tool is off");
    let trial = Trial::of(allow(), Permission::Ask).await;
    assert_eq!(trial.ran.len(), 1);
    assert_eq!(trial.reply.reason, Some(GenerateReason::ModelStop));
}

#[tokio::test]
async fn an_allowed_call_that_another_hook_changes_asks_again() {
    let allow = hooks([before_tools(&decides(&json!({ "permissionDecision": "allow" })))]);
    let change = on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input = json!({ "path": "/etc/passwd" });
    });
    let ran = Ran::default();
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt"]))
        .tool(write_file(&ran, Permission::Ask))
        .hook(allow)
        .hook(change)
        .build()
        .unwrap();
    let reply = agent.call("Write it").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    assert!(ran.inputs().is_empty());
}

/// CH-11.
#[tokio::test]
async fn ask_stops_until_the_call_is_confirmed_and_the_hook_sees_it_twice() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let ask = decides(&json!({ "permissionDecision": "ask", "permissionDecisionReason": "sure?" }));
    let line = format!("echo x >> '{}'; {ask}", seen.display());
    let ran = Ran::default();
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt"]))
        .tool(write_file(&ran, Permission::Allow))
        .hook(hooks([before_tools(&line)]))
        .build()
        .unwrap();
    let reply = agent.call("Write it").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let why = PendingReason::Permission("sure?".to_owned());
    assert_eq!(reply.pending()[0].why, why);
    assert!(ran.inputs().is_empty());
    let reply = agent.resume(CallOptions::new().confirm("call-0")).await.unwrap();
    assert_eq!(reply.text(), "Done.");
    assert_eq!(ran.inputs().len(), 1);
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "x\nx\n");
}

#[tokio::test]
async fn defer_stops_the_call_and_the_command_decides_again() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let defer = decides(&json!({ "permissionDecision": "defer" }));
    let line = format!("test -e '{}' || {defer}", ready.display());
    let ran = Ran::default();
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt"]))
        .tool(write_file(&ran, Permission::Allow))
        .hook(hooks([before_tools(&line)]))
        .build()
        .unwrap();
    let reply = agent.call("Write it").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
    let again = agent.resume(CallOptions::new().confirm("call-0")).await.unwrap();
    assert_eq!(again.reason, Some(GenerateReason::ActingStopRequested));
    std::fs::write(ready, "").unwrap();
    assert_eq!(agent.resume(CallOptions::new()).await.unwrap().text(), "Done.");
    assert_eq!(ran.inputs().len(), 1);
}

#[tokio::test]
async fn a_failure_that_may_continue_runs_the_tool() {
    let guard = before_tools("exit 1").on_failure(OnFailure::Continue);
    let trial = Trial::of(hooks([guard]), Permission::Allow).await;
    assert_eq!(trial.result().output, "written");
}

#[tokio::test]
async fn continue_false_ends_the_call_with_its_reason_in_the_metadata() {
    let line = crate::agents::says(&json!({ "continue": false, "stopReason": "budget is spent" }));
    let deny = before_tools("echo no >&2; exit 2").named("deny");
    let trial = Trial::of(hooks([deny, before_tools(&line)]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.reply.reason, Some(GenerateReason::HookEnded));
    assert_eq!(trial.reply.metadata["stop_reason"], "budget is spent");
    assert!(!format!("{:?}", trial.memory).contains("budget"));
}

#[tokio::test]
async fn a_person_confirms_the_arguments_that_a_command_wrote() {
    let ask = json!({ "permissionDecision": "ask", "updatedInput": { "path": "b" } });
    let ran = Ran::default();
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt"]))
        .tool(write_file(&ran, Permission::Ask))
        .hook(hooks([before_tools(&decides(&ask))]))
        .build()
        .unwrap();
    let reply = agent.call("Write it").await.unwrap();
    assert_eq!(reply.pending()[0].call.input, json!({ "path": "b" }));
    agent.resume(CallOptions::new().confirm("call-0")).await.unwrap();
    assert_eq!(ran.inputs(), [json!({ "path": "b" })]);
}

#[tokio::test]
async fn a_decision_outside_of_what_is_particular_to_the_event_counts_and_the_stricter_holds() {
    let deny = json!({ "permissionDecision": "deny", "permissionDecisionReason": "not here" });
    let trial = Trial::of(hooks([before_tools(&says(&deny))]), Permission::Allow).await;
    assert_eq!((trial.ran.len(), trial.result().output.to_string()), (0, "not here".to_owned()));

    let allow = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
    let both = json!({ "permissionDecision": "deny", "hookSpecificOutput": allow });
    let trial = Trial::of(hooks([before_tools(&says(&both))]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
}

#[tokio::test]
async fn an_answer_that_begins_with_a_byte_order_mark_decides() {
    let deny = json!({ "decision": "block", "reason": "no" });
    let line = format!("printf '\\357\\273\\277'; {}", says(&deny));
    let trial = Trial::of(hooks([before_tools(&line)]), Permission::Allow).await;
    assert_eq!((trial.ran.len(), trial.result().output.to_string()), (0, "no".to_owned()));
}

#[tokio::test]
async fn a_command_that_goes_on_in_the_background_decides_nothing() {
    let line = r#"printf '{"async": true, "asyncTimeout": 5}\n{"decision": "blo'"#;
    let trial = Trial::of(hooks([before_tools(line)]), Permission::Allow).await;
    assert_eq!(trial.result().output, "written");
    let line = r#"printf '{"async": false}\n{"decision": "blo'"#;
    let trial = Trial::of(hooks([before_tools(line)]), Permission::Allow).await;
    assert_eq!(trial.result().output, UNCHECKED);
}

#[tokio::test]
async fn a_tool_call_is_blocked_by_a_guard_that_could_not_be_started() {
    let line = "uv() { echo 'error: Failed to fetch' >&2; return 2; }; uv run check.py";
    let entry = before_tools(line).on_failure(OnFailure::Continue);
    let trial = Trial::of(hooks([entry]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
}
