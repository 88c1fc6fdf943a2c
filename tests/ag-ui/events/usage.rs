//! Tokens of the models of a run.

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use serde_json::json;

use crate::client::{Client, one};
use crate::events::stream::call;

#[tokio::test]
async fn each_model_has_an_entry_also_those_of_sub_agents() {
    let poet =
        ScriptedModel::new("small", |_| ScriptedAnswer::from("roses").costing(Usage::new(3, 0)));
    let poet = ReActAgent::builder("poet").model(poet.with_provider("ollama")).build().unwrap();
    let model = ScriptedModel::new("large", |request| -> ScriptedAnswer {
        let answer = match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => ScriptedAnswer::from("done"),
            None => vec![call("c1", "poet", json!({ "task": "a poem" }))].into(),
        };
        answer.costing(Usage::new(12, 5))
    });
    let agent = ReActAgent::builder("bot").model(model.with_provider("openai"));
    let agent = agent.tool(poet.to_tool("Writes")).build().unwrap();
    let events = Client::new(agent).say("go").await;
    assert_eq!(
        one(&events, "RUN_FINISHED")["usage"],
        json!([
            { "provider": "openai", "model": "large", "inputTokens": 24, "outputTokens": 10, "totalTokens": 34 },
            { "provider": "ollama", "model": "small", "inputTokens": 3 },
        ]),
    );
}

#[tokio::test]
async fn a_failed_run_says_what_it_used() {
    let model = ScriptedModel::new("large", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => ModelError::status("large", 503).into(),
            None => {
                let blocks = vec![call("c1", "unknown", json!({}))];
                ScriptedAnswer::from(blocks).costing(Usage::new(12, 5))
            }
        }
    });
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let events = Client::new(agent).say("go").await;
    let usage = &one(&events, "RUN_ERROR")["usage"];
    assert_eq!(usage[0]["totalTokens"], 17);
    assert!(usage[0].get("provider").is_none());
}
