//! ST-13: redactors that run after the studio.

use std::sync::Arc;

use hooks_agent_core::HookRole;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_studio::Studio;
use serde_json::json;

use crate::support::{SECRET, assert_gone, calls_then, everything, gone, open, reads};

#[tokio::test]
async fn what_a_redactor_after_the_studio_removes() {
    let late = |builder: ReActAgentBuilder| {
        builder
            .model(calls_then("read", json!({ "key": SECRET }), "The key sk-9f2c77ab."))
            .tool(reads("result sk-9f2c77ab"))
            .hook(Late.with_priority(700).with_role(HookRole::Redacts))
    };
    let texts = everything(&Studio::new().show_removed(true), "sk-9f2c77ab", late).await;
    assert_gone(&texts, SECRET, "\"hidden\":true");
    // Also if nobody knows the hook of the studio by its name.
    let studio = Studio::new();
    let agent = late(ReActAgent::builder("clerk")).hook(studio.hook().named("live"));
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio.clone().agent(agent.clone())).await;
    agent.call("sk-9f2c77ab").await.unwrap();
    let texts = browser.newest().await.to_string();
    assert_gone(&texts, SECRET, "\"hidden\":true");
}

#[tokio::test]
async fn what_an_inherited_redactor_after_the_studio_removes_in_a_sub_agent() {
    let texts = everything(&Studio::new(), "Go", |builder| {
        let part = ReActAgent::builder("part")
            .model(calls_then("read", json!({}), "Done."))
            .tool(reads("result sk-9f2c77ab"))
            .build()
            .unwrap();
        builder
            .model(calls_then("part", json!({ "task": "read" }), "Done."))
            .tool(part.to_tool("Reads."))
            .hook(Late.with_priority(700).with_role(HookRole::Redacts).inherited(true))
    })
    .await;
    assert_gone(&texts, SECRET, "\"agent\":\"part\"");
}

#[tokio::test]
async fn what_a_redactor_removes_that_comes_while_the_call_runs() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({}), "Done."))
        .tool(reads("result sk-9f2c77ab"))
        .hook(on(|event: &mut PreCall<'_>| {
            let late = Late.with_priority(700).with_role(HookRole::Redacts);
            event.context().get::<Arc<ReActAgent>>().unwrap().register_agent_hook(late);
        }))
        .hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio).await;
    agent.call_with(CallOptions::new().value(agent.clone()), "Go").await.unwrap();
    let texts = browser.newest().await.to_string();
    assert_gone(&texts, SECRET, "tool_finished");
}

/// Removes the secret everywhere.
struct Late;

#[agent_hook]
impl Late {
    fn input(&self, event: &mut PreCall<'_>) {
        let text = gone(&event.messages()[0].text());
        event.set_messages(Msg::user(text));
    }

    fn result(&self, event: &mut PostActing<'_>) {
        event.tool_result_mut().output.map_text(gone);
    }
}
