//! Where a model is asked: what `Debug`, errors and logs show of it, and which redirects are followed.

use std::error::Error;

use axum::http::{HeaderMap, header};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::model::{ChatModel, ModelError, ModelOptions, ToolChoice};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_providers::GenAiModel;
use hooks_fixtures::Reports;
use tracing::Level;

use crate::provider::{Answer, Provider, ask, chunks, each_provider, refusal};

fn model(provider: &Provider) -> GenAiModel {
    GenAiModel::openai_compatible(&provider.url, "test-key", "test-model")
}

#[tokio::test]
async fn a_required_call_of_a_tool_that_is_not_there_is_not_asked_for() {
    let provider = Provider::start(Vec::new()).await;
    let tool_choice = ToolChoice::Tool("clock".to_owned());
    let options = ModelOptions::new().tool_choice(tool_choice);
    let reason = refusal(model(&provider), options).await;
    assert_eq!(reason, "the call of `clock` is required and the request has no such tool");
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn a_required_call_without_any_tool_is_not_asked_for() {
    let provider = Provider::start(Vec::new()).await;
    let options = ModelOptions::new().tool_choice(ToolChoice::Required);
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
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let model = GenAiModel::openai_compatible(format!("{url}/v1"), "test-key", "test-model");
    let error = chunks(&model).await.remove(0).unwrap_err();
    let ModelError::Unreachable { endpoint, reason, is_unsent, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*endpoint, url);
    assert!(reason.contains("refused"), "{reason}");
    assert!(is_unsent, "there was no connection");
}

#[tokio::test]
async fn nothing_of_an_endpoint_is_printed_but_scheme_host_and_port() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    drop(listener);
    let paths = ["/secret/v1", "/v1?key=secret", "/v1/?key=secret#secret", "?key=secret"];
    for path in paths {
        let url = format!("http://secret:secret@{place}{path}");
        for model in each_provider(&url) {
            assert_hidden(&model, &format!("http://{place}")).await;
        }
    }
}

#[tokio::test]
async fn nothing_of_an_endpoint_is_traced() {
    let url = "http://secret:secret@127.0.0.1:1/v1?key=secret";
    let (reports, records) = Reports::up_to(Level::DEBUG);
    let reporting = tracing::subscriber::set_default(reports);
    for url in [url, url.trim_end_matches("?key=secret"), "localhost:1/secret"] {
        for model in each_provider(url) {
            chunks(&model).await.remove(0).unwrap_err();
        }
    }
    drop(reporting);
    let records = records.take();
    assert!(!records.is_empty(), "the crate traces errors");
    assert!(records.iter().all(|record| !record.contains("secret")), "{records:?}");
}

#[tokio::test]
async fn an_endpoint_that_is_no_url_is_not_printed() {
    let endpoints = [
        "secret",
        "127.0.0.1:1/secret",
        "localhost:1/?key=secret",
        "ftp://secret@127.0.0.1/",
        "http://secret:pass word@127.0.0.1:none/",
        // The password ends the host.
        "http://secret:1/2@127.0.0.1:1/",
        "http://secret:1?2@127.0.0.1:1/",
        "http://secret:1#2@127.0.0.1:1/",
    ];
    for endpoint in endpoints {
        for model in each_provider(endpoint) {
            assert_hidden(&model, "an invalid endpoint").await;
        }
    }
}

#[tokio::test]
async fn a_url_with_a_query_is_not_asked_and_the_remedy_is_named() {
    let provider = Provider::start(Vec::new()).await;
    for model in each_provider(&format!("{}/v1?key=secret", provider.url)) {
        let error = chunks(&model).await.remove(0).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "model `test-model` cannot be reached at {}: the URL has a query or a fragment, \
                 pass a key as the key of the model",
                provider.url,
            ),
        );
    }
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn a_url_without_a_scheme_is_told_to_have_one() {
    for url in ["localhost:1/v1", "127.0.0.1:1", "api.example.com/v1", "host?to=http://a", ""] {
        for model in each_provider(url) {
            let error = chunks(&model).await.remove(0).unwrap_err();
            let reason = "the URL has no scheme, write `http://` or `https://` first";
            let text = "model `test-model` cannot be reached at an invalid endpoint";
            assert_eq!(error.to_string(), format!("{text}: {reason}"));
        }
    }
}

#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed_with_the_key() {
    let other = Provider::start(Vec::new()).await;
    for index in 0..4 {
        let headers = [(header::LOCATION, other.url.parse().unwrap())];
        let redirect = Answer::Status(307, headers.into_iter().collect());
        let provider = Provider::start(vec![redirect]).await;
        let model = each_provider(&provider.url).swap_remove(index);
        let error = chunks(&model).await.remove(0).unwrap_err();
        assert!(matches!(error, ModelError::Status { status: 307, .. }), "{error}");
    }
    assert!(other.requests().is_empty());
}

/// The model cannot be reached; it and its error print this place and no secret.
async fn assert_hidden(model: &GenAiModel, place: &str) {
    let error = chunks(model).await.remove(0).unwrap_err();
    let ModelError::Unreachable { endpoint, .. } = &error else { panic!("{error}") };
    assert_eq!(endpoint, place);
    let error = AgentError::from(error);
    let cause = error.source().map(|cause| format!("{cause} {cause:?}"));
    for text in [format!("{model:?} {model:#?}"), format!("{error} {error:?} {cause:?}")] {
        assert!(text.contains(place) && !text.contains("secret"), "{text}");
    }
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

#[test]
fn the_server_is_scheme_host_and_port_and_nothing_of_a_secret() {
    for (url, server) in [
        ("https://api.example.org/v1", Some("https://api.example.org")),
        ("http://user:secret@localhost:8080/v1/secret", Some("http://localhost:8080")),
        ("http://[::1]:8080", Some("http://[::1]:8080")),
        ("no url", None),
    ] {
        let model = GenAiModel::openai_compatible(url, "secret", "m");
        assert_eq!(ChatModel::server(&model).as_deref(), server, "{url}");
    }
}
