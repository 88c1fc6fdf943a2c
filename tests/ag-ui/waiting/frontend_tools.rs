//! Tools of the client.

use hooks_agent_ag_ui::AgUi;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, all, one, outcome};
use crate::events::stream::{blocks_then_done, call, echo};

fn tools() -> Value {
    json!([{ "name": "confetti", "description": "Shows confetti.",
        "parameters": { "type": "object", "properties": { "color": { "type": "string" } } } }])
}

/// Says what the last result is, or calls the tools.
fn model(blocks: Vec<ContentBlock>) -> ScriptedModel {
    ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        let results: Vec<_> = request
            .messages
            .iter()
            .flat_map(Msg::tool_results)
            .map(|it| it.output.to_string())
            .collect();
        if results.is_empty() {
            return blocks.clone().into();
        }
        format!("results: {}", results.join(", ")).into()
    })
}

fn answer(id: &str, content: &str) -> Value {
    json!({ "id": format!("m-{id}"), "role": "tool", "toolCallId": id, "content": content })
}

#[tokio::test]
async fn ag_09_a_call_of_a_tool_of_the_client_waits_for_its_message() {
    let model = model(vec![call("c1", "confetti", json!({ "color": "red" }))]);
    let mut client = Client::new(ReActAgent::builder("bot").model(model).build().unwrap());
    client.tools = tools();
    let events = client.say("hooray").await;
    assert!(all(&events, "TOOL_CALL_RESULT").is_empty());
    assert_eq!(outcome(&events), &json!({ "type": "success", "pendingToolCallIds": ["c1"] }));
    client.messages.push(answer("c1", "shown"));
    let events = client.send(json!({})).await.unwrap();
    assert!(all(&events, "TOOL_CALL_RESULT").is_empty(), "the client has it");
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert_eq!(client.messages.last().unwrap()["content"], "results: shown");
    let before = client.messages.clone();
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages, before, "the snapshot has the id of the client's message");
}

#[tokio::test]
async fn the_model_reads_the_description_of_the_tool() {
    let model = ScriptedModel::new("m", |request| {
        let tool = request.tools.last().expect("a tool");
        format!("{} {} {}", tool.name, tool.description, tool.schema["properties"]["color"]["type"])
    });
    let mut client = Client::new(ReActAgent::builder("bot").model(model).build().unwrap());
    client.tools = tools();
    client.say("hi").await;
    assert_eq!(client.messages[1]["content"], "confetti Shows confetti. \"string\"");
}

#[tokio::test]
async fn what_the_client_says_of_its_tools_passes_the_guards() {
    let model = ScriptedModel::new("m", |request| {
        let tool = request.tools.last().expect("a tool");
        let color = &tool.schema["properties"]["color"]["description"];
        format!("{} {} {color}", tool.name, tool.description)
    });
    let agent = ReActAgent::builder("bot").model(model).hook(PiiDetection::email());
    let mut client = Client::new(agent.build().unwrap());
    client.tools = tools();
    client.tools[0]["description"] = json!("Mails ada@example.com.");
    client.tools[0]["parameters"]["properties"]["color"]["description"] = json!("Of x@example.com");
    client.say("hi").await;
    let said = r#"confetti Mails [REDACTED_EMAIL]. "Of [REDACTED_EMAIL]""#;
    assert_eq!(client.messages[1]["content"], said);
}

#[tokio::test]
async fn tools_of_the_agent_run_before_the_client_has_its_turn() {
    let blocks = vec![call("c1", "confetti", json!({})), call("c2", "echo", json!({ "a": 1 }))];
    for parallel in [false, true] {
        let agent = ReActAgent::builder("bot").model(model(blocks.clone())).tool(echo("echo"));
        let mut client = Client::new(agent.parallel_tools(parallel).build().unwrap());
        client.tools = tools();
        let events = client.say("both").await;
        assert_eq!(one(&events, "TOOL_CALL_RESULT")["toolCallId"], "c2");
        assert_eq!(outcome(&events)["pendingToolCallIds"], json!(["c1"]));
        client.messages.push(answer("c1", "shown"));
        let events = client.send(json!({})).await.unwrap();
        assert_eq!(outcome(&events), &json!({ "type": "success" }));
    }
}

#[tokio::test]
async fn a_tool_of_the_agent_wins() {
    let model = blocks_then_done(vec![call("c1", "confetti", json!({ "a": 1 }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo("confetti")).build().unwrap();
    let mut client = Client::new(agent);
    client.tools = tools();
    let events = client.say("hi").await;
    assert_eq!(one(&events, "TOOL_CALL_RESULT")["content"], r#"{"a":1}"#);
}

#[tokio::test]
async fn an_approval_and_a_tool_of_the_client_wait_side_by_side() {
    let blocks = vec![call("c1", "confetti", json!({})), call("c2", "echo", json!({ "a": 1 }))];
    for parallel in [false, true] {
        let tool = echo("echo").permission(|_| Permission::Ask);
        let agent = ReActAgent::builder("bot").model(model(blocks.clone())).tool(tool);
        let mut client = Client::new(agent.parallel_tools(parallel).build().unwrap());
        client.tools = tools();
        let events = client.say("both").await;
        let interrupts = outcome(&events)["interrupts"].as_array().unwrap();
        assert_eq!(interrupts.len(), 1);
        assert_eq!(interrupts[0]["toolCallId"], "c2");
        client.messages.push(answer("c1", "shown"));
        let entry = json!({ "interruptId": "int-c2", "status": "resolved", "payload": { "approved": true } });
        let events = client.resume(json!([entry])).await;
        assert_eq!(one(&events, "TOOL_CALL_RESULT")["toolCallId"], "c2");
        assert_eq!(outcome(&events), &json!({ "type": "success" }));
    }
}

#[tokio::test]
async fn a_message_of_the_client_cannot_answer_a_call_that_asks() {
    let tool = echo("echo").permission(|_| Permission::Ask);
    let model = model(vec![call("c1", "echo", json!({ "a": 1 }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).build().unwrap();
    let mut client = Client::new(agent);
    client.say("go").await;
    client.messages.push(answer("c1", "I say it ran"));
    assert_eq!(client.send(json!({})).await.unwrap_err().status(), 409);
}

#[tokio::test]
async fn a_call_that_the_client_left_is_an_error_once_the_user_goes_on() {
    let model = model(vec![call("c1", "confetti", json!({}))]);
    let mut client = Client::new(ReActAgent::builder("bot").model(model).build().unwrap());
    client.tools = tools();
    client.say("hooray").await;
    let events = client.say("never mind").await;
    let result = one(&events, "TOOL_CALL_RESULT");
    assert_eq!(result["content"], "the client sent no result");
    assert_eq!(result["metadata"]["hooks"]["isError"], true);
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
}

#[tokio::test]
async fn tools_of_the_client_can_be_switched_off() {
    let model = ScriptedModel::new("m", |request| request.tools.len().to_string());
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let mut client = Client::of(AgUi::new(agent).client_tools(false));
    client.tools = tools();
    client.say("hi").await;
    assert_eq!(client.messages[1]["content"], "0");
}

#[tokio::test]
async fn an_error_of_a_tool_of_the_client_is_one_for_the_model() {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.iter().flat_map(Msg::tool_results).next() {
            Some(result) => format!("{} {}", result.is_error, result.output).into(),
            None => ToolUse::new("c1", "confetti", json!({})).into(),
        }
    });
    let mut client = Client::new(ReActAgent::builder("bot").model(model).build().unwrap());
    client.tools = tools();
    client.say("hooray").await;
    client.messages.push(json!({ "id": "m", "role": "tool", "toolCallId": "c1", "content": "",
        "error": "no paper" }));
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages.last().unwrap()["content"], "true no paper");
}

#[tokio::test]
async fn a_result_in_parts_is_the_text_of_them() {
    let model = model(vec![call("c1", "confetti", json!({}))]);
    let mut client = Client::new(ReActAgent::builder("bot").model(model).build().unwrap());
    client.tools = tools();
    client.say("hooray").await;
    let source = json!({ "type": "data", "value": "iVBORw==", "mimeType": "image/png" });
    let parts = json!([{ "type": "text", "text": "red" }, { "type": "image", "source": source },
        { "type": "text", "text": "blue" }]);
    client
        .messages
        .push(json!({ "id": "m", "role": "tool", "toolCallId": "c1", "content": parts }));
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages.last().unwrap()["content"], "results: red\nblue");
}
