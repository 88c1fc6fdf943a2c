//! The ends of calls and of sessions, where nothing waits for commands.

use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;

use crate::agents::{Trial, assert_has, hooks};
use crate::notes::{Notes, agent, at, pipe};

#[tokio::test]
async fn people_are_notified_when_a_call_waits_for_permission() {
    let (_folder, line, input) = pipe();
    let notify = at("Notification", &line).matcher("permission_prompt");
    let trial = Trial::of(hooks([notify]), Permission::Ask).await;
    assert_eq!(trial.reply.reason, Some(GenerateReason::PermissionAsking));
    let input = input.await.unwrap();
    assert_eq!(input["notification_type"], "permission_prompt");
    assert_has(input["message"].as_str().unwrap(), "assistant waits");
}

#[tokio::test]
async fn a_call_that_fails_starts_its_commands() {
    let (_folder, line, input) = pipe();
    let script = Script::new().fails(ModelError::status("scripted", 503));
    let agent = agent(&script, hooks([at("StopFailure", &line)]));
    let error = agent.call("hi").await.unwrap_err();
    assert_eq!(input.await.unwrap()["error"], error.to_string());
}

#[tokio::test]
async fn the_end_of_a_session_is_run_once() {
    let notes = Notes::new();
    let hooks = hooks([at("SessionEnd", &notes.append())]);
    hooks.close().await;
    hooks.clone().close().await;
    drop(hooks);
    let inputs = notes.inputs();
    assert_eq!(inputs.len(), 1);
    assert_eq!(inputs[0]["reason"], "other");
}

#[tokio::test]
async fn dropping_the_last_clone_ends_the_session() {
    let (_folder, line, input) = pipe();
    let hooks = hooks([at("SessionEnd", &line)]);
    drop(hooks.clone());
    drop(hooks);
    assert_eq!(input.await.unwrap()["hook_event_name"], "SessionEnd");
}

#[tokio::test]
async fn a_call_that_settles_starts_its_commands() {
    let (_folder, line, input) = pipe();
    let trial = Trial::of(hooks([at("SETTLED", &line)]), Permission::Allow).await;
    assert_eq!(trial.reply.text(), "Done.");
    assert_eq!(input.await.unwrap()["hooks"]["outcome"], "finished");
}

#[tokio::test]
async fn a_session_ends_with_its_agent() {
    let (_folder, line, mut input) = pipe();
    let script = Script::new().says("one");
    let agent = agent(&script, hooks([at("SessionEnd", &line)]));
    agent.call("hi").await.unwrap();
    assert!(input.try_recv().is_err());
    drop(agent);
    assert_eq!(input.await.unwrap()["hook_event_name"], "SessionEnd");
}
