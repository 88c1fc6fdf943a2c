//! Texts without content, which providers refuse.

use axum::http::HeaderMap;
use futures::StreamExt;
use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult};
use hooks_agent_core::model::{ChatModel, ChatRequest};

use crate::provider::{Answer, Provider, each_provider, weather};

/// What each provider gets of a conversation in which the model answered with these blocks.
async fn sent(blocks: Vec<ContentBlock>) -> Vec<String> {
    let answer = Msg::from_blocks(Role::Assistant, "bot", blocks);
    let results = answer.tool_uses().map(|call| ToolResult::success(call, "sunny"));
    let results: Vec<_> = results.map(Msg::tool_result).collect();
    let messages = [vec![Msg::user("go"), answer], results, vec![Msg::user("on")]].concat();
    let mut sent = Vec::new();
    for index in 0..4 {
        let provider = Provider::start(vec![Answer::Status(400, HeaderMap::new())]).await;
        let model = each_provider(&provider.url).swap_remove(index);
        let _: Vec<_> = model.stream(ChatRequest::new(messages.clone())).collect().await;
        sent.push(provider.last_body().to_string());
    }
    sent
}

#[tokio::test]
async fn an_answer_of_an_empty_text_is_not_sent_back() {
    for body in sent(vec![ContentBlock::text("")]).await {
        let roles = ["\"role\":\"assistant\"", "\"role\":\"model\""];
        assert!(roles.iter().all(|role| !body.contains(role)), "{body}");
    }
}

#[tokio::test]
async fn an_empty_text_beside_a_tool_call_is_not_sent_back() {
    let call = ContentBlock::ToolUse(weather("call-1", "Rome"));
    for body in sent(vec![ContentBlock::text(""), call]).await {
        assert!(body.contains("Rome") && !body.contains("\"text\":\"\""), "{body}");
    }
}
