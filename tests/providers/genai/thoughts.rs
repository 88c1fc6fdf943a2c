//! Thoughts that a server wants back with the tool calls after them.

use axum::http::HeaderMap;
use futures::StreamExt;
use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};
use hooks_agent_core::model::{ChatModel, ChatRequest};
use hooks_agent_providers::GenAiModel;
use serde_json::{Value, json};

use crate::provider::{Answer, Provider, agent, ask, each_provider, weather};

fn frames(delta: &Value, finish: &str) -> Answer {
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
    let end = format!("data: {end}\n\ndata: [DONE]\n\n");
    Answer::Frames(vec![format!("data: {chunk}\n\n"), end])
}

/// The messages of the second request, after the model thought and called a tool.
async fn second_request(set: impl Fn(GenAiModel) -> GenAiModel) -> Value {
    let function = json!({ "name": "weather", "arguments": "{\"name\":\"Rome\"}" });
    let call = json!({ "index": 0, "id": "call-1", "type": "function", "function": function });
    let call = json!({ "reasoning_content": "Rome?", "tool_calls": [call] });
    let answers =
        vec![frames(&call, "tool_calls"), frames(&json!({ "content": "Sunny." }), "stop")];
    let provider = Provider::start(answers).await;
    let model = GenAiModel::openai_compatible(&provider.url, "test-key", "test-model");
    ask(&agent(set(model))).await.unwrap();
    provider.last_body()["messages"].take()
}

#[tokio::test]
async fn thoughts_are_sent_back_with_their_tool_calls_if_asked_for() {
    let messages = second_request(|model| model.resend_thoughts(true)).await;
    let function = json!({ "name": "weather", "arguments": "{\"name\":\"Rome\"}" });
    assert_eq!(
        messages[2],
        json!({
            "role": "assistant",
            "content": "",
            "reasoning_content": "Rome?",
            "tool_calls": [{ "type": "function", "id": "call-1", "function": function }],
        })
    );
}

#[tokio::test]
async fn thoughts_are_not_sent_back_unless_asked_for() {
    let sets: [fn(GenAiModel) -> GenAiModel; 2] =
        [|model| model, |model| model.resend_thoughts(true).resend_thoughts(false)];
    for set in sets {
        let messages = second_request(set).await;
        assert_eq!(messages[2].get("reasoning_content"), None, "{messages}");
    }
}

/// A question, an answer of these blocks, and results of its tool calls.
fn conversation(blocks: Vec<ContentBlock>) -> Vec<Msg> {
    let answer = Msg::from_blocks(Role::Assistant, "bot", blocks);
    let results = answer.tool_uses().map(|call: &ToolUse| ToolResult::success(call, "sunny"));
    let results: Vec<_> = results.map(Msg::tool_result).collect();
    [vec![Msg::user("go"), answer], results].concat()
}

#[tokio::test]
async fn thoughts_without_tool_calls_and_signed_ones_stay_out() {
    let signed = ContentBlock::Thinking { thinking: "Hm.".into(), signature: Some("sig-1".into()) };
    let call = ContentBlock::ToolUse(weather("call-1", "Rome"));
    let conversations = [
        conversation(vec![ContentBlock::thinking("Hm."), ContentBlock::text("Hello.")]),
        conversation(vec![signed, call]),
    ];
    for messages in conversations {
        let provider = Provider::start(vec![Answer::Status(400, HeaderMap::new())]).await;
        let model = each_provider(&provider.url).swap_remove(0).resend_thoughts(true);
        let _: Vec<_> = model.stream(ChatRequest::new(messages)).collect().await;
        let body = provider.last_body().to_string();
        assert!(!body.contains("Hm.") && !body.contains("reasoning_content"), "{body}");
    }
}

#[tokio::test]
async fn thoughts_without_a_signature_are_not_sent_back_to_other_providers() {
    for index in 1..4 {
        let call = ContentBlock::ToolUse(weather("call-1", "Rome"));
        let messages = conversation(vec![ContentBlock::thinking("Hm."), call]);
        let provider = Provider::start(vec![Answer::Status(400, HeaderMap::new())]).await;
        let model = each_provider(&provider.url).swap_remove(index).resend_thoughts(true);
        let _: Vec<_> = model.stream(ChatRequest::new(messages)).collect().await;
        let body = provider.last_body().to_string();
        assert!(!body.contains("Hm."), "{body}");
    }
}
