//! Sub-agents.

use std::sync::{Arc, Mutex};

use hooks_agent_core::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::client::{Client, all, one, outcome, types};
use crate::events::stream::{blocks_then_done, call, echo};

fn agent_of(name: &str, model: ScriptedModel) -> ReActAgent {
    ReActAgent::builder(name).model(model).build().unwrap()
}

fn approve(id: &str) -> Value {
    json!({ "interruptId": id, "status": "resolved", "payload": { "approved": true } })
}

#[tokio::test]
async fn ag_12_parallel_sub_agents_begin_and_end_once_each() {
    let both_began = Arc::new(Barrier::new(2));
    let build = |name: &str, text: &'static str| {
        let both_began = both_began.clone();
        let wait = on!(async move |_: &mut PreReasoning<'_>| {
            both_began.wait().await;
        });
        let model = ScriptedModel::new(name, move |_| text);
        ReActAgent::builder(name).model(model).hook(wait).build().unwrap()
    };
    let poet = build("poet", "roses are red and so on");
    let critic = build("critic", "not so good at all");
    let model = blocks_then_done(vec![
        call("c1", "poet", json!({ "task": "a poem" })),
        call("c2", "critic", json!({ "task": "a verdict" })),
    ]);
    let agent = ReActAgent::builder("bot").model(model);
    let agent = agent.tool(poet.to_tool("Writes")).tool(critic.to_tool("Judges"));
    let mut client = Client::new(agent.parallel_tools(true).build().unwrap());
    let events = client.say("go").await;
    let started = all(&events, "SUBAGENT_STARTED");
    assert_eq!(started.len(), 2);
    assert_eq!(
        (&started[0]["name"], &started[0]["parentToolCallId"]),
        (&json!("poet"), &json!("c1"))
    );
    assert_eq!(
        (&started[1]["name"], &started[1]["parentToolCallId"]),
        (&json!("critic"), &json!("c2"))
    );
    assert!(started[0].get("parentSubagentRunId").is_none());
    for started in &started {
        let of_agent: Vec<_> = events
            .iter()
            .filter(|event| event["subagentRunId"] == started["subagentRunId"])
            .collect();
        assert_eq!(of_agent[0]["type"], "SUBAGENT_STARTED");
        let last = of_agent.last().unwrap();
        assert_eq!(last["type"], "SUBAGENT_FINISHED");
        assert_eq!(last["outcome"], json!({ "type": "success" }));
    }
    // They run at once: the second begins before the first has ended.
    let at = |event: &Value| events.iter().position(|it| it == event).unwrap();
    assert!(at(started[1]) < at(all(&events, "SUBAGENT_FINISHED")[0]));
    let finished = all(&events, "SUBAGENT_FINISHED");
    let results = all(&events, "TOOL_CALL_RESULT");
    assert!(at(finished[0]) < at(results[0]));
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
}

#[tokio::test]
async fn a_sub_agent_of_a_sub_agent_names_its_parent() {
    let inner = agent_of("inner", ScriptedModel::new("i", |_| "deep"));
    let outer = ReActAgent::builder("outer");
    let outer = outer.model(blocks_then_done(vec![call("c1", "inner", json!({ "task": "x" }))]));
    let outer = outer.tool(inner.to_tool("Inner")).build().unwrap();
    let model = blocks_then_done(vec![call("c1", "outer", json!({ "task": "x" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(outer.to_tool("Outer")).build().unwrap();
    let events = Client::new(agent).say("go").await;
    let started = all(&events, "SUBAGENT_STARTED");
    assert_eq!(started[1]["parentSubagentRunId"], started[0]["subagentRunId"]);
    assert_eq!(started[1]["parentToolCallId"], "c1/c1");
}

#[tokio::test]
async fn tool_calls_of_sub_agents_have_ids_of_their_own() {
    let inner = ReActAgent::builder("inner");
    let inner = inner.model(blocks_then_done(vec![call("c1", "echo", json!({ "a": 1 }))]));
    let inner = inner.tool(echo("echo")).build().unwrap();
    let model = blocks_then_done(vec![call("c1", "inner", json!({ "task": "x" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(inner.to_tool("Inner")).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("go").await;
    let ids: Vec<_> = all(&events, "TOOL_CALL_START")
        .iter()
        .map(|it| it["toolCallId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c1", "c1/c1"]);
    // A later snapshot keeps what the client knows of the sub-agent.
    let before = client.messages.clone();
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages, before);
}

#[tokio::test]
async fn a_failed_sub_agent_ends_with_an_error_before_the_result() {
    let inner = agent_of(
        "inner",
        ScriptedModel::new("i", |_| {
            ScriptedAnswer::from(hooks_agent_core::model::ModelError::status("i", 500))
        }),
    );
    let model = blocks_then_done(vec![call("c1", "inner", json!({ "task": "x" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(inner.to_tool("Inner")).build().unwrap();
    let events = Client::new(agent).say("go").await;
    let types = types(&events);
    let at = |kind| types.iter().position(|it| *it == kind).unwrap();
    assert!(at("SUBAGENT_ERROR") < at("TOOL_CALL_RESULT"));
    assert_eq!(one(&events, "SUBAGENT_ERROR")["code"], "model");
    assert_eq!(one(&events, "TOOL_CALL_RESULT")["metadata"]["hooks"]["isError"], true);
}

fn asking_below(seen: &Arc<Mutex<Vec<Value>>>) -> ReActAgent {
    let seen = seen.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |input: Value| {
        seen.lock().unwrap().push(input);
        std::future::ready("paid")
    });
    let inner = ReActAgent::builder("inner").model(blocks_then_done(vec![
        call("p1", "pay", json!({ "euros": 1 })),
        call("p2", "pay", json!({ "euros": 2 })),
    ]));
    let inner =
        inner.tool(pay.permission(|_| Permission::Ask)).parallel_tools(true).build().unwrap();
    let model = blocks_then_done(vec![call("c1", "inner", json!({ "task": "x" }))]);
    ReActAgent::builder("bot").model(model).tool(inner.to_tool("Inner")).build().unwrap()
}

#[tokio::test]
async fn questions_of_a_sub_agent_are_interrupts_of_the_run() {
    let seen = Arc::default();
    let mut client = Client::new(asking_below(&seen));
    let events = client.say("go").await;
    let finished = one(&events, "SUBAGENT_FINISHED");
    let ids = json!(["int-c1/p1", "int-c1/p2"]);
    assert_eq!(finished["outcome"], json!({ "type": "suspended", "interruptIds": ids }));
    let interrupts = outcome(&events)["interrupts"].as_array().unwrap();
    assert_eq!(interrupts[0]["id"], "int-c1/p1");
    assert_eq!(interrupts[0]["metadata"]["hooks"]["agents"], json!(["inner"]));
    let deny = json!({ "interruptId": "int-c1/p2", "status": "resolved",
        "payload": { "approved": false, "reason": "no" } });
    let edit = json!({ "interruptId": "int-c1/p1", "status": "resolved",
        "payload": { "approved": true, "editedArgs": { "euros": 7 } } });
    let events = client.resume(json!([edit, deny])).await;
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 7 })]);
    let results = all(&events, "TOOL_CALL_RESULT");
    let of = |id: &str| results.iter().find(|it| it["toolCallId"] == id).unwrap();
    assert_eq!(of("c1/p2")["content"], "denied: no");
    assert!(of("c1/p2")["subagentRunId"].is_string());
    assert!(of("c1/p1")["content"].as_str().unwrap().contains("paid"));
    assert_eq!(of("c1")["content"], "done");
    assert!(all(&events, "TOOL_CALL_START").is_empty());
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    let before = client.messages.clone();
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages, before);
}

#[tokio::test]
async fn an_approval_of_a_call_of_a_sub_agent_lets_it_run() {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let mut client = Client::new(asking_below(&seen));
    client.say("go").await;
    client.resume(json!([approve("int-c1/p1"), approve("int-c1/p2")])).await;
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn clients_before_1_0_do_not_see_sub_agents() {
    let poet = agent_of("poet", ScriptedModel::new("p", |_| "roses are red"));
    let model = blocks_then_done(vec![call("c1", "poet", json!({ "task": "a poem" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(poet.to_tool("Writes")).build().unwrap();
    let mut client = Client::new(agent);
    client.version = None;
    let events = client.say("go").await;
    assert!(!events.iter().any(|it| it["type"].as_str().unwrap().starts_with("SUBAGENT")));
    assert!(events.iter().all(|it| it.get("subagentRunId").is_none()));
    assert_eq!(one(&events, "TOOL_CALL_RESULT")["content"], "roses are red");
}

#[tokio::test]
async fn what_a_sub_agent_said_stays_in_its_place_when_the_conversation_is_shown_again() {
    let poet = agent_of("poet", ScriptedModel::new("poet", |_| "roses"));
    let model = blocks_then_done(vec![call("c1", "poet", json!({ "task": "a poem" }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(poet.to_tool("Writes"));
    let mut client = Client::new(agent.build().unwrap());
    client.say("go").await;
    let ids = |messages: &[Value]| -> Vec<_> {
        messages.iter().map(|message| message["id"].clone()).collect()
    };
    let before = ids(&client.messages);
    let said = client.messages.iter().position(|message| message["content"] == "roses").unwrap();
    assert!(said > 0 && said + 1 < before.len());
    let events = client.send(json!({})).await.unwrap();
    let shown = one(&events, "MESSAGES_SNAPSHOT")["messages"].as_array().unwrap();
    assert_eq!(ids(shown), before);
}
