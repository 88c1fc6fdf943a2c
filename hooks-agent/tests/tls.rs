//! Models over HTTP in a program that is built without TLS, or with that of ring.
#![cfg(all(feature = "genai", not(feature = "tls")))]

use hooks_agent::error::AgentError;
use hooks_agent::model::GenAiModel;
use hooks_agent::prelude::*;

/// Asks a server that is not there.
async fn asked(url: &str) -> AgentError {
    let model = GenAiModel::openai_compatible(url, "key", "model");
    let agent = ReActAgent::builder("assistant").model(model).build().unwrap();
    agent.call("Hello").await.unwrap_err()
}

#[tokio::test]
async fn an_encrypted_url_names_the_features_where_neither_is_on() {
    let text = format!("{:?}", asked("https://127.0.0.1:1/v1").await);
    let names = text.contains("the feature `tls` or `tls-ring`");
    assert_eq!(names, cfg!(not(feature = "tls-ring")), "{text}");
}

#[tokio::test]
async fn a_plain_url_needs_none() {
    let text = format!("{:?}", asked("http://127.0.0.1:1/v1").await);
    assert!(text.contains("refused"), "{text}");
}
