//! Messages with images, audio and files, and what is sent of them.

use axum::http::HeaderMap;
use futures::StreamExt;
use hooks_agent_core::message::{ContentBlock, Media, Msg, Role, ToolOutput, ToolResult};
use hooks_agent_core::model::{ChatModel, ChatRequest, ModelError};
use hooks_agent_providers::GenAiModel;
use serde_json::Value;

use crate::provider::{Answer, Provider, each_provider, weather};

/// An image in base64.
pub(crate) const PNG: &str = "iVBORw==";

/// Where an image is.
pub(crate) const PNG_URL: &str = "https://example.com/a.png";

pub(crate) fn openai(url: &str) -> GenAiModel {
    each_provider(url).swap_remove(0)
}

pub(crate) fn anthropic(url: &str) -> GenAiModel {
    each_provider(url).swap_remove(1)
}

pub(crate) fn gemini(url: &str) -> GenAiModel {
    each_provider(url).swap_remove(2)
}

pub(crate) fn ollama(url: &str) -> GenAiModel {
    each_provider(url).swap_remove(3)
}

pub(crate) type Model = fn(&str) -> GenAiModel;

/// What is sent of these messages.
pub(crate) async fn sent(model: Model, messages: Vec<Msg>) -> Value {
    let provider = Provider::start(vec![Answer::Status(400, HeaderMap::new())]).await;
    let error = ask(model(&provider.url), messages).await;
    assert!(matches!(error, ModelError::Status { status: 400, .. }), "{error}");
    let mut body = provider.last_body();
    body["messages"].take()
}

/// The same of Gemini.
pub(crate) async fn sent_to_gemini(messages: Vec<Msg>) -> Value {
    let provider = Provider::start(vec![Answer::Status(400, HeaderMap::new())]).await;
    ask(gemini(&provider.url), messages).await;
    provider.last_body()["contents"].take()
}

/// Why nothing is sent of these messages.
pub(crate) async fn refused(model: Model, messages: Vec<Msg>) -> String {
    let provider = Provider::start(Vec::new()).await;
    let error = ask(model(&provider.url), messages).await;
    let ModelError::Failed { reason, .. } = error else { panic!("{error}") };
    assert!(provider.requests().is_empty());
    reason
}

pub(crate) async fn ask(model: GenAiModel, messages: Vec<Msg>) -> ModelError {
    let mut all: Vec<_> = model.stream(ChatRequest::new(messages)).collect().await;
    all.remove(0).unwrap_err()
}

pub(crate) fn image() -> ContentBlock {
    ContentBlock::Image(Media::base64("image/png", PNG))
}

pub(crate) fn image_url() -> ContentBlock {
    ContentBlock::Image(Media::url("image/png", PNG_URL))
}

pub(crate) fn audio(mime_type: &str) -> ContentBlock {
    ContentBlock::Audio(Media::bytes(mime_type, "abc"))
}

pub(crate) fn pdf() -> ContentBlock {
    ContentBlock::File(Media::bytes("application/pdf", "abc").named("a.pdf"))
}

pub(crate) fn file(mime_type: &str) -> ContentBlock {
    ContentBlock::File(Media::bytes(mime_type, "abc"))
}

pub(crate) fn file_url(mime_type: &str) -> ContentBlock {
    ContentBlock::File(Media::url(mime_type, "https://example.com/a"))
}

pub(crate) fn user(blocks: impl IntoIterator<Item = ContentBlock>) -> Vec<Msg> {
    vec![blocks.into_iter().fold(Msg::user("Look."), Msg::with)]
}

/// Two tool calls of one answer, and these outputs as their results.
pub(crate) fn outputs(rome: ToolOutput, oslo: ToolOutput) -> Vec<Msg> {
    let calls = [weather("call-1", "Rome"), weather("call-2", "Oslo")];
    let results = calls.iter().zip([rome, oslo]);
    let results: Vec<_> =
        results.map(|(call, output)| Msg::tool_result(ToolResult::success(call, output))).collect();
    let answer = calls.map(ContentBlock::ToolUse).to_vec();
    let answer = Msg::from_blocks(Role::Assistant, "bot", answer);
    [vec![Msg::user("go"), answer], results, vec![Msg::user("And?")]].concat()
}
