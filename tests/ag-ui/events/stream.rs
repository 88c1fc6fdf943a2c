//! The events of a run.

use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, all, one, outcome, types};

/// Answers with these blocks first, and with "done" once a tool has answered.
pub(crate) fn blocks_then_done(blocks: Vec<ContentBlock>) -> ScriptedModel {
    ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        let is_answered = request.messages.iter().any(|msg| msg.tool_results().next().is_some());
        if is_answered { "done".into() } else { blocks.clone().into() }
    })
}

pub(crate) fn call(id: &str, name: &str, input: Value) -> ContentBlock {
    ContentBlock::ToolUse(ToolUse::new(id, name, input))
}

/// A tool that answers with its arguments.
pub(crate) fn echo(name: &str) -> FunctionTool {
    FunctionTool::new(name, "Echoes.", async |input: Value| input.to_string())
}

#[tokio::test]
async fn ag_01_a_text_is_a_message_in_a_step() {
    let model = ScriptedModel::new("words", |_| "one two");
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("hi").await;
    let expected = [
        "RUN_STARTED",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
    assert_eq!(events[0]["protocolVersion"], "1.0");
    assert_eq!((&events[0]["threadId"], &events[0]["runId"]), (&json!("t"), &json!("run-1")));
    assert!(events[0]["metadata"]["hooks"]["run"].is_string());
    assert_eq!(events[1]["stepName"], "reasoning-1");
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert!(events[7].get("result").is_none());
    assert_eq!(client.messages[1]["content"], "one two");
}

#[tokio::test]
async fn ag_02_a_tool_has_a_step_and_a_result() {
    let model = blocks_then_done(vec![call("c1", "echo", json!({ "x": [1, "a"] }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo("echo")).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let expected = [
        "RUN_STARTED",
        "STEP_STARTED",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "STEP_FINISHED",
        "STEP_STARTED",
        "TOOL_CALL_RESULT",
        "STEP_FINISHED",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
    let written: String =
        all(&events, "TOOL_CALL_ARGS").iter().map(|it| it["delta"].as_str().unwrap()).collect();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!({ "x": [1, "a"] }));
    assert_eq!(events[6]["stepName"], "tool-c1");
    let result = one(&events, "TOOL_CALL_RESULT");
    assert_eq!((&result["content"], &result["role"]), (&json!(r#"{"x":[1,"a"]}"#), &json!("tool")));
    assert!(result.get("metadata").is_none());
}

#[tokio::test]
async fn ag_03_text_after_a_call_is_another_message() {
    let blocks = vec![
        ContentBlock::text("before"),
        call("c1", "echo", json!({})),
        ContentBlock::text("after"),
    ];
    let agent = ReActAgent::builder("bot").model(blocks_then_done(blocks)).tool(echo("echo"));
    let mut client = Client::new(agent.build().unwrap());
    let events = client.say("hi").await;
    let starts = all(&events, "TEXT_MESSAGE_START");
    let (first, second) = (&starts[0]["messageId"], &starts[1]["messageId"]);
    assert_ne!(first, second);
    assert_eq!(&one(&events, "TOOL_CALL_START")["parentMessageId"], first);
    assert_eq!(all(&events, "TEXT_MESSAGE_END").len(), 3);
    assert_eq!(client.text(first.as_str().unwrap()), "before");
    assert_eq!(client.text(second.as_str().unwrap()), "after");
}

#[tokio::test]
async fn ag_04_thoughts_end_before_the_text_and_keep_their_signature() {
    let thinking = |text: &str, signature: Option<&str>| ContentBlock::Thinking {
        thinking: text.to_owned(),
        signature: signature.map(str::to_owned),
    };
    let blocks = vec![
        thinking("let me see", Some("sig")),
        ContentBlock::RedactedThinking { data: "secret".to_owned() },
        ContentBlock::text("so"),
    ];
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("m", move |_| ScriptedAnswer::from(blocks.clone())));
    let events = Client::new(agent.build().unwrap()).say("hi").await;
    let expected = [
        "RUN_STARTED",
        "STEP_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_ENCRYPTED_VALUE",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_ENCRYPTED_VALUE",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
    ];
    let types: Vec<_> = types(&events)
        .into_iter()
        .take_while(|it| *it != "TEXT_MESSAGE_CONTENT")
        .fold(Vec::new(), |mut types: Vec<&str>, kind| {
            // Thoughts come in as many chunks as the model likes.
            if kind != "REASONING_MESSAGE_CONTENT" || types.last() != Some(&kind) {
                types.push(kind);
            }
            types
        });
    assert_eq!(types, expected);
    let values = all(&events, "REASONING_ENCRYPTED_VALUE");
    assert_eq!(
        (&values[0]["encryptedValue"], &values[0]["subtype"]),
        (&json!("sig"), &json!("message"))
    );
    assert_eq!(values[0]["entityId"], events[2]["messageId"]);
}

#[tokio::test]
async fn ag_11_an_interrupt_closes_what_is_open() {
    let model = ScriptedModel::new("words", |_| "one two three");
    let interrupt = on(|event: &mut ReasoningChunk<'_>| event.context().interrupt());
    let agent = ReActAgent::builder("bot").model(model).hook(interrupt).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let types = types(&events);
    let end = ["TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"];
    assert_eq!(types[types.len() - 3..], end, "{types:?}");
    assert_eq!(outcome(&events), &json!({ "type": "cancelled" }));
    assert!(one(&events, "RUN_FINISHED").get("result").is_none());
}

#[tokio::test]
async fn a_reply_of_a_hook_is_shown_and_the_result_has_the_reason() {
    let answer = on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("bot", "closed")));
    let model = ScriptedModel::new("words", |_| "never");
    let agent = ReActAgent::builder("bot").model(model).hook(answer).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let expected = [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
    let reason = serde_json::to_value(GenerateReason::HookAnswered).unwrap();
    assert_eq!(one(&events, "RUN_FINISHED")["result"], json!({ "reason": reason }));
}

#[tokio::test]
async fn calls_that_hooks_add_are_shown() {
    let add = on(|event: &mut PostReasoning<'_>| {
        if event.message().text() == "thinking about it" {
            let call = ToolUse::new("added", "echo", json!({ "a": 1 }));
            event.message_mut().content.push(ContentBlock::ToolUse(call));
        }
    });
    let model = blocks_then_done(vec![ContentBlock::text("thinking about it")]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo("echo")).hook(add);
    let events = Client::new(agent.build().unwrap()).say("hi").await;
    assert_eq!(one(&events, "TOOL_CALL_START")["toolCallId"], "added");
    assert!(all(&events, "MESSAGES_SNAPSHOT").is_empty());
}

#[tokio::test]
async fn a_changed_tool_call_and_progress_are_custom_events() {
    let change = on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input = json!({ "path": "b" });
        event.tool_use_mut().hide("key", "hunter2");
    });
    let tool = FunctionTool::with_context("read", "Reads.", async |_: Value, cx: ToolContext| {
        cx.progress("half");
        "text"
    });
    let model = blocks_then_done(vec![call("c1", "read", json!({ "path": "a" }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(change).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let custom = all(&events, "CUSTOM");
    assert_eq!(custom[0]["name"], "hooks.tool_call_changed");
    assert_eq!(
        custom[0]["value"],
        json!({ "toolCallId": "c1", "input": { "path": "b", "key": "[hidden]" } }),
    );
    assert_eq!(custom[1]["name"], "hooks.tool_progress");
    assert_eq!(custom[1]["value"], json!({ "toolCallId": "c1", "text": "half" }));
    assert!(!events.iter().any(|event| event.to_string().contains("hunter2")));
}

#[tokio::test]
async fn ids_that_a_model_uses_again_are_other_ids_for_the_client() {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        let results = request.messages.iter().filter(|msg| msg.tool_results().next().is_some());
        match (results.count(), request.last_text().as_str()) {
            (0 | 1, _) | (_, "more") => call_block("again").into(),
            _ => "done".into(),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).tool(echo("echo")).build().unwrap();
    let mut client = Client::new(agent);
    let first = client.say("hi").await;
    let second = client.say("more").await;
    let ids = |events: &[Value]| -> Vec<Value> {
        let starts = all(events, "TOOL_CALL_START");
        starts.iter().map(|event| event["toolCallId"].clone()).collect()
    };
    assert_eq!(ids(&first), [json!("again"), json!("again~2")]);
    assert_eq!(ids(&second), [json!("again~3")]);
    assert_eq!(one(&second, "TOOL_CALL_RESULT")["toolCallId"], "again~3");
    let before = client.messages.clone();
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages, before, "the snapshot has the same ids");
}

fn call_block(id: &str) -> ToolUse {
    ToolUse::new(id, "echo", json!({}))
}

#[tokio::test]
async fn a_summary_is_a_step_and_the_reason_of_the_result() {
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        if request.tools.is_empty() {
            return "that is all".into();
        }
        ToolUse::new("c", "echo", json!({})).into()
    });
    let agent = ReActAgent::builder("bot").model(model).tool(echo("echo")).max_iters(1);
    let mut client = Client::new(agent.build().unwrap());
    let events = client.say("hi").await;
    let steps: Vec<_> =
        all(&events, "STEP_STARTED").iter().map(|it| it["stepName"].as_str().unwrap()).collect();
    assert_eq!(steps, ["reasoning-1", "tool-c", "summary"]);
    assert_eq!(one(&events, "RUN_FINISHED")["result"], json!({ "reason": "max_iterations" }));
    let before = client.messages.clone();
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages, before);
}
