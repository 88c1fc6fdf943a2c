//! A text that a hook removed is in no event.

use std::sync::Arc;

use hooks_agent_ag_ui::{AgUi, Caller};
use hooks_agent_builtin::guard::{PiiDetection, Vault};
use hooks_agent_core::hook::Rewrite;
use hooks_agent_core::model::Finding;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

use crate::client::{Client, all, one, types};
use crate::events::stream::{blocks_then_done, call, echo};

fn redacted(text: &str) -> String {
    text.replace("hunter2", "***")
}

fn redact(msg: &mut Msg) {
    for block in &mut msg.content {
        match block {
            ContentBlock::Text { text } => *text = redacted(text),
            ContentBlock::ToolUse(call) => {
                let text = redacted(&call.input.to_string());
                call.input = serde_json::from_str(&text).unwrap();
            }
            _ => {}
        }
    }
}

fn has_secret(events: &[Value]) -> bool {
    events.iter().any(|event| event.to_string().contains("hunter2"))
}

#[tokio::test]
async fn ag_13_shown_text_that_a_hook_redacts_is_corrected_under_its_id() {
    let model = ScriptedModel::new("m", |_| "it is hunter2 ok");
    let hook = on(|event: &mut PostReasoning<'_>| redact(event.message_mut()));
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("hi").await;
    let id = one(&events, "TEXT_MESSAGE_START")["messageId"].as_str().unwrap().to_owned();
    assert_eq!(client.text(&id), "it is *** ok");
    let at = |kind| types(&events).iter().position(|it| *it == kind).unwrap();
    assert!(at("TEXT_MESSAGE_END") < at("MESSAGES_SNAPSHOT"));
    assert!(at("MESSAGES_SNAPSHOT") < at("STEP_FINISHED"));
    assert!(!has_secret(&events[at("TEXT_MESSAGE_END")..]));
}

#[tokio::test]
async fn a_rewrite_leaves_nothing_to_correct() {
    let rewrite = Rewrite::new(7, |text, from| {
        let start = from + text[from..].find("hunter2")?;
        Some(Finding::Replace { range: start..start + 7, text: "***".to_owned() })
    });
    let model = ScriptedModel::new("m", |_| "it is hunter2 ok");
    let agent = ReActAgent::builder("bot").model(model).hook(rewrite).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    assert!(!has_secret(&events));
    assert!(all(&events, "MESSAGES_SNAPSHOT").is_empty());
}

#[tokio::test]
async fn arguments_that_a_hook_redacts_are_corrected_and_not_in_the_interrupt() {
    let model = blocks_then_done(vec![call("c1", "echo", json!({ "password": "hunter2" }))]);
    let hook = on(|event: &mut PostReasoning<'_>| redact(event.message_mut()));
    let tool = echo("echo").permission(|_| Permission::Ask);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(hook).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("hi").await;
    let shown = types(&events).iter().position(|it| *it == "TOOL_CALL_END").unwrap();
    assert!(!has_secret(&events[shown..]));
    assert!(!has_secret(&client.messages));
}

#[tokio::test]
async fn a_reply_that_a_hook_redacts_for_the_caller_alone_stays_redacted() {
    let model = ScriptedModel::new("m", |request| match request.last_text().as_str() {
        "again" => "nothing",
        _ => "it is hunter2",
    });
    let hook = on(|event: &mut PostCall<'_>| redact(event.final_message_mut()));
    let agent = Arc::new(ReActAgent::builder("bot").model(model).hook(hook).build().unwrap());
    let mut client = Client::of(AgUi::new(agent.clone()));
    client.say("hi").await;
    assert!(!has_secret(&client.messages));
    // Memory has what the model said; no later snapshot may show it.
    let history = agent.threads().memory(&Caller::new("ada").thread("t")).unwrap().messages();
    assert!(history.iter().any(|msg| msg.text().contains("hunter2")));
    client.say("again").await;
    let events = client.send(json!({})).await.unwrap();
    assert_eq!(types(&events)[1], "MESSAGES_SNAPSHOT");
    assert!(!has_secret(&events));
}

#[tokio::test]
async fn a_reply_that_a_hook_replaces_is_shown_in_place_of_the_answer() {
    let model = ScriptedModel::new("m", |_| "it is hunter2");
    let hook = on(|event: &mut PostCall<'_>| {
        event.set_final_message(Msg::assistant("bot", "I do not know"));
    });
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let mut client = Client::new(agent);
    client.say("hi").await;
    let texts: Vec<_> = client.messages.iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["hi", "I do not know"]);
    let events = client.send(json!({})).await.unwrap();
    assert!(!has_secret(&events));
}

#[tokio::test]
async fn messages_of_the_user_are_shown_as_the_hooks_left_them() {
    let model = ScriptedModel::new("m", |_| "ok");
    let hook = on(|event: &mut PreCall<'_>| event.messages_mut().iter_mut().for_each(redact));
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let mut client = Client::new(agent);
    client.say("I am hunter2").await;
    let events = client.send(json!({})).await.unwrap();
    assert!(!has_secret(&events));
    assert_eq!(client.messages[0]["content"], "I am ***");
}

#[tokio::test]
async fn results_are_shown_as_the_hooks_left_them() {
    let tool = FunctionTool::new("echo", "Echoes.", async |_: Value| "hunter2");
    let hook = on(|event: &mut PostActing<'_>| {
        event.tool_result_mut().output.map_text(redacted);
    });
    let model = blocks_then_done(vec![call("c1", "echo", json!({}))]);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(hook).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("hi").await;
    assert_eq!(one(&events, "TOOL_CALL_RESULT")["content"], "***");
    assert!(!has_secret(&client.send(json!({})).await.unwrap()));
}

#[tokio::test]
async fn a_sub_agent_that_a_hook_redacts_is_corrected() {
    let inner = ScriptedModel::new("m", |_| "it is hunter2 ok");
    let hook = on(|event: &mut PostReasoning<'_>| redact(event.message_mut()));
    let poet = ReActAgent::builder("poet").model(inner).hook(hook).build().unwrap();
    let model = blocks_then_done(vec![call("c1", "poet", json!({ "task": "a poem" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(poet.to_tool("Writes")).build().unwrap();
    let mut client = Client::new(agent);
    client.say("hi").await;
    assert!(!has_secret(&client.messages), "{:#?}", client.messages);
    assert!(client.messages.iter().any(|it| it["content"] == "it is *** ok"));
}

#[tokio::test]
async fn the_reply_of_a_sub_agent_that_a_hook_redacts_is_corrected() {
    let inner = ScriptedModel::new("m", |_| "it is hunter2 ok");
    let hook = on(|event: &mut PostCall<'_>| redact(event.final_message_mut()));
    let poet = ReActAgent::builder("poet").model(inner).hook(hook).build().unwrap();
    let model = blocks_then_done(vec![call("c1", "poet", json!({ "task": "a poem" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(poet.to_tool("Writes")).build().unwrap();
    let mut client = Client::new(agent);
    client.say("hi").await;
    assert!(!has_secret(&client.messages), "{:#?}", client.messages);
}

#[tokio::test]
async fn the_system_prompt_is_in_no_event() {
    let model = ScriptedModel::new("m", |_| "ok");
    let agent = ReActAgent::builder("bot").system_prompt("hunter2").model(model).build().unwrap();
    let mut client = Client::new(agent);
    let first = client.say("hi").await;
    let second = client.send(json!({})).await.unwrap();
    assert!(!has_secret(&first) && !has_secret(&second));
}

#[tokio::test]
async fn what_a_vault_gives_back_to_a_tool_alone_is_in_no_event() {
    let look = FunctionTool::new("look", "Looks up.", async |_: Value| "it is ada@example.com");
    let send = FunctionTool::new("send", "Sends.", async |input: Value| {
        assert_eq!(input, json!({ "to": "it is ada@example.com" }));
        "sent"
    });
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        match last.tool_results().next() {
            None => ToolUse::new("c1", "look", json!({})).into(),
            Some(result) if result.name == "look" => {
                ToolUse::new("c2", "send", json!({ "to": result.output.as_str() })).into()
            }
            Some(_) => "done".into(),
        }
    });
    let pii = PiiDetection::all().everywhere().vault(Vault::new());
    let agent = ReActAgent::builder("bot").model(model).tool(look).tool(send).hook(pii);
    let mut client = Client::new(agent.build().unwrap());
    let events = client.say("hi").await;
    assert_eq!(all(&events, "TOOL_CALL_RESULT").len(), 2);
    let shown: Vec<_> = events.iter().filter(|it| it.to_string().contains("ada@")).collect();
    assert!(shown.is_empty(), "{shown:#?}");
}

#[tokio::test]
async fn thoughts_that_a_hook_removes_for_the_caller_alone_stay_removed() {
    for says in ["it is hunter2", "it is nothing"] {
        let model = Script::new().thinks("thought of hunter2", says);
        let hook = on(|event: &mut PostCall<'_>| {
            let msg = event.final_message_mut();
            msg.content.retain(|block| !matches!(block, ContentBlock::Thinking { .. }));
            redact(msg);
        });
        let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
        let mut client = Client::new(agent);
        client.say("hi").await;
        assert!(!has_secret(&client.messages), "{:#?}", client.messages);
        let events = client.send(json!({})).await.unwrap();
        assert!(!has_secret(&events));
    }
}

#[tokio::test]
async fn thoughts_that_a_hook_removes_from_the_reply_of_a_sub_agent_stay_removed() {
    let inner = Script::new().thinks("thought of hunter2", "a poem");
    let hook = on(|event: &mut PostCall<'_>| {
        let msg = event.final_message_mut();
        msg.content.retain(|block| !matches!(block, ContentBlock::Thinking { .. }));
    });
    let poet = ReActAgent::builder("poet").model(inner).hook(hook).build().unwrap();
    let model = blocks_then_done(vec![call("c1", "poet", json!({ "task": "a poem" }))]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(poet.to_tool("Writes")).build().unwrap();
    let mut client = Client::new(agent);
    client.say("hi").await;
    assert!(!has_secret(&client.messages), "{:#?}", client.messages);
    assert!(client.messages.iter().any(|it| it["content"] == "a poem"));
}

#[tokio::test]
async fn progress_is_shown_as_the_hooks_left_it() {
    let tool = FunctionTool::with_context("echo", "Echoes.", async |_: Value, cx| {
        let cx: ToolContext = cx;
        cx.progress("half of ada@example.com");
        "all of ada@example.com".to_owned()
    });
    let model = blocks_then_done(vec![call("c1", "echo", json!({}))]);
    let pii = PiiDetection::all().everywhere();
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(pii).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("hi").await;
    let shown: Vec<_> = events.iter().filter(|it| it.to_string().contains("ada@")).collect();
    assert!(shown.is_empty(), "{shown:#?}");
}
