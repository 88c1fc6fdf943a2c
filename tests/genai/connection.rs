//! What is told of where a model is asked, and what it is not asked.

use axum::http::HeaderMap;
use hooks_agent::{GenAiModel, ModelError, ModelOptions, ReActAgent, ToolChoice};

use crate::provider::{Answer, Provider, ask, chunks, refusal};

fn model(provider: &Provider) -> GenAiModel {
    GenAiModel::openai_compatible(&provider.url, "test-key", "test-model")
}

#[tokio::test]
async fn a_required_call_of_a_tool_that_is_not_there_is_not_asked_for() {
    let provider = Provider::start(Vec::new()).await;
    let tool_choice = ToolChoice::Tool("clock".to_owned());
    let options = ModelOptions { tool_choice, ..ModelOptions::default() };
    let reason = refusal(model(&provider), options).await;
    assert_eq!(reason, "the call of `clock` is required and the request has no such tool");
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn a_required_call_without_any_tool_is_not_asked_for() {
    let provider = Provider::start(Vec::new()).await;
    let options = ModelOptions { tool_choice: ToolChoice::Required, ..ModelOptions::default() };
    let agent = ReActAgent::builder("bot").model(model(&provider)).model_options(options);
    let error = ask(&agent.build().unwrap()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "model `test-model` failed: a tool call is required and the request has no tools, add one \
         or leave the choice to the model",
    );
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = GenAiModel::openai_compatible(&url, "test-key", "test-model");
    let error = chunks(&model).await.remove(0).unwrap_err();
    let ModelError::Unreachable { endpoint, reason, .. } = &error else { panic!("{error}") };
    assert_eq!(*endpoint, format!("{url}/"));
    assert!(reason.contains("refused"), "{reason}");

    let error = chunks(&model.endpoint("no url")).await.remove(0).unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }));
}

#[tokio::test]
async fn neither_key_nor_prompt_is_in_any_text_of_a_model() {
    let provider = Provider::start(vec![Answer::Status(401, HeaderMap::new())]).await;
    let model = model(&provider);
    let error = chunks(&model).await.remove(0).unwrap_err();
    for text in [format!("{model:?}"), format!("{error} {error:?}")] {
        assert!(!text.contains("test-key") && !text.contains("go"), "{text}");
    }
}
