//! The events of rounds.

use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;
use tracing::Level;

use crate::agents::{Log, Ran, Trial, assert_has, hooks, write_file, writes};
use crate::notes::{Notes, agent, at};

/// CH-14.
#[tokio::test]
async fn stop_makes_the_model_go_on_twice() {
    let notes = Notes::new();
    let count = format!("test $(wc -l < '{}') -gt 2 && exit 0", notes.path());
    let line = format!("{}; {count}; echo 'run the tests' >&2; exit 2", notes.append());
    let script = Script::new().says("one").says("two").says("three");
    let agent = agent(&script, hooks([at("Stop", &line)]));
    assert_eq!(agent.call("Go").await.unwrap().text(), "three");
    script.finish();
    let requests = script.requests();
    assert!(requests[1..].iter().all(|request| request.last_text() == "run the tests"));
    let inputs = notes.inputs();
    let active: Vec<_> = inputs.iter().map(|it| it["stop_hook_active"].clone()).collect();
    assert_eq!(active, [json!(false), json!(true), json!(true)]);
    assert_eq!(inputs[1]["last_assistant_message"], "two");
}

#[tokio::test]
async fn stop_that_always_blocks_ends_with_a_warning() {
    let log = Log::up_to(Level::WARN);
    let script = Script::new().says("one").says("two").says("three");
    let agent = agent(&script, hooks([at("Stop", "exit 2")]));
    let reply = agent.call("Go").await.unwrap();
    assert_eq!((reply.text().as_str(), reply.reason), ("three", Some(GenerateReason::ModelStop)));
    assert_has(&log.take(), "twice in a row");
}

#[tokio::test]
async fn a_round_may_be_refused_before_the_model_is_asked() {
    let script = Script::new();
    let line = "echo 'the budget is spent' >&2; exit 2";
    let agent = agent(&script, hooks([at("PRE_REASONING", line).matcher("scripted|script")]));
    let reply = agent.call("hi").await;
    let names: Vec<_> = script.requests().iter().map(ChatRequest::last_text).collect();
    assert_eq!(reply.unwrap().text(), "the budget is spent", "{names:?}");
    assert!(names.is_empty());
}

#[tokio::test]
async fn an_answer_with_tool_calls_may_be_refused() {
    let ran = Ran::default();
    let notes = Notes::new();
    let count = format!("test $(wc -l < '{}') -gt 1 && exit 0", notes.path());
    let line = format!("{}; {count}; echo 'another way' >&2; exit 2", notes.append());
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt", "b.txt"]))
        .tool(write_file(&ran, Permission::Allow))
        .hook(hooks([at("POST_REASONING", &line)]))
        .build()
        .unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done.");
    assert!(ran.inputs().is_empty());
    let memory = agent.memory().messages();
    let results: Vec<_> = memory.iter().flat_map(Msg::tool_results).collect();
    assert!(results.len() == 2 && results.iter().all(|it| it.is_error));
    assert_eq!(results[0].output, "another way");
}

#[tokio::test]
async fn an_event_without_a_refusing_flow_fails_the_call() {
    for event in ["POST_ACTING", "POST_CALL"] {
        let ran = Ran::default();
        let agent = ReActAgent::builder("assistant")
            .model(writes(&["a.txt"]))
            .tool(write_file(&ran, Permission::Allow))
            .hook(hooks([at(event, "echo 'not this' >&2; exit 2")]))
            .build()
            .unwrap();
        let error = agent.call("Go").await.unwrap_err();
        assert_has(&error.to_string(), "not this");
    }
}

#[tokio::test]
async fn events_that_cannot_be_blocked_go_on_with_a_warning() {
    let log = Log::up_to(Level::WARN);
    let events = ["REASONING_CHUNK", "ACTING_CHUNK", "ERROR"];
    let trial = Trial::of(hooks(events.map(|event| at(event, "exit 2"))), Permission::Allow).await;
    assert_eq!(trial.reply.text(), "Done.");
    assert_has(&log.take(), "cannot be blocked");
}

#[tokio::test]
async fn a_summary_may_be_refused() {
    let ran = Ran::default();
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt"]))
        .tool(write_file(&ran, Permission::Allow))
        .max_iters(1)
        .hook(hooks([at("PRE_SUMMARY", "echo 'no summary' >&2; exit 2")]))
        .build()
        .unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.text(), "no summary");
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
}
