//! The end of a part call in the stream of its parent.

use std::time::Duration;

use futures::StreamExt;
use hooks_agent_core::error::ErrorKind;
use hooks_agent_core::model::{ChatModel, ChatRequest, ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::stream::AgentEvent;
use hooks_fixtures::scripted_agents::{go, script, uses};
use serde_json::json;

/// Streams a call of an agent that gives this sub-agent a task, and then answers.
async fn events_of(
    sub: ReActAgentBuilder,
    boss: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> Vec<AgentEvent> {
    let sub = sub.build().unwrap();
    let task = ToolUse::new("call-7", "sub", json!({ "task": "greet" }));
    let (model, _) = script([uses([task]), "done".into()]);
    let builder = ReActAgent::builder("boss").model(model).tool(sub.to_tool("Greets."));
    let boss = boss(builder).build().unwrap();
    boss.stream(go()).map(Result::unwrap).collect().await
}

/// The last event of the sub-agent.
fn end(events: &[AgentEvent]) -> &AgentEvent {
    events.iter().rfind(|event| &*event.agent == "sub").unwrap()
}

#[tokio::test]
async fn a_part_call_that_fails_ends_with_the_kind_of_its_error_and_without_its_text() {
    let model = ScriptedModel::new("busy", |_| ModelError::Failed {
        model: "busy".to_owned(),
        reason: "hunter2".to_owned(),
    });
    let events = events_of(ReActAgent::builder("sub").model(model), |boss| {
        boss.hook(on(|event: &mut PostActing<'_>| event.tool_result_mut().output = "***".into()))
    })
    .await;
    let end = end(&events);
    assert_eq!(end.kind, AgentEventKind::Failed { kind: ErrorKind::Model });
    assert_eq!((end.tool_call.as_deref(), end.parent), (Some("call-7"), Some(events[0].run)));
    assert!(!format!("{events:?}").contains("hunter2"), "{events:#?}");
    assert!(matches!(events.last().unwrap().kind, AgentEventKind::Finished(_)));
}

#[tokio::test]
async fn a_part_call_that_panics_ends_as_panicked() {
    let (model, _) = script(["done"]);
    let panics = on(|event: &mut PreReasoning<'_>| {
        assert!(event.messages().is_empty(), "on purpose");
    });
    let events = events_of(ReActAgent::builder("sub").model(model).hook(panics), |boss| boss).await;
    assert_eq!(end(&events).kind, AgentEventKind::Failed { kind: ErrorKind::Panicked });
}

/// A model that never answers.
struct Silent;

impl ChatModel for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(futures::stream::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_call_that_is_dropped_ends_as_cancelled() {
    let events = events_of(ReActAgent::builder("sub").model(Silent), |boss| {
        boss.tool_timeout(Duration::from_secs(1))
    })
    .await;
    assert_eq!(end(&events).kind, AgentEventKind::Failed { kind: ErrorKind::Cancelled });
}

#[tokio::test]
async fn the_stream_of_a_whole_call_has_no_such_event() {
    let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let events: Vec<_> = agent.stream(go()).collect().await;
    assert!(events.last().unwrap().is_err());
    let failed = |event: &AgentEvent| matches!(event.kind, AgentEventKind::Failed { .. });
    assert!(!events.iter().flatten().any(failed));
}
