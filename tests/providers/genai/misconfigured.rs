//! Errors of a URL that is not the API of the provider.

use axum::http::{HeaderMap, header};
use hooks_agent_core::model::ModelError;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::provider::{Answer, Provider, assert_cut, chunks, each_provider};

/// What is appended to the URL of each provider, in the order of `each_provider`.
const PATHS: [&str; 4] = ["chat/completions", "messages", "models/..", "api/chat"];

/// The last error of a model of each provider whose server answers so.
async fn errors(answer: impl Fn() -> Answer) -> Vec<ModelError> {
    let mut errors = Vec::new();
    for index in 0..4 {
        let provider = Provider::start(vec![answer()]).await;
        // The path may hold a key.
        let model = each_provider(&format!("{}/secret/", provider.url)).swap_remove(index);
        errors.push(chunks(&model).await.pop().expect("an error").unwrap_err());
    }
    errors
}

/// A completion that is not streamed, as `OpenAI`'s API has it.
fn completion() -> Value {
    json!({ "id": "1", "choices": [{ "message": { "role": "assistant", "content": "secret" } }] })
}

#[tokio::test]
async fn a_body_that_is_no_stream_asks_for_the_url() {
    let bodies = [
        "<!DOCTYPE html>\n<html>\n\n<p>secret</p>\n</html>\n".to_owned(),
        "<html>secret</html>".to_owned(),
        "secret".to_owned(),
        completion().to_string(),
        format!("{:#}\n", completion()),
        format!("{:#}", json!([completion()])),
        String::new(),
    ];
    for body in bodies {
        for (error, path) in errors(|| Answer::Whole(body.clone())).await.iter().zip(PATHS) {
            let ModelError::Failed { reason, .. } = error else { panic!("{error}: {body}") };
            assert_eq!(
                *reason,
                format!(
                    "the server answered with something else than the API's stream, is the URL \
                     right? `{path}` is appended to it",
                ),
                "{body}",
            );
        }
    }
}

#[tokio::test]
async fn a_page_that_is_not_unicode_asks_for_the_url() {
    for (index, path) in PATHS.into_iter().enumerate() {
        let url = raw_server(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n<p>\xfcber</p").await;
        let error = chunks(&each_provider(&url)[index]).await.pop().expect("an error");
        let ModelError::Failed { reason, .. } = error.unwrap_err() else { panic!("not failed") };
        assert!(reason.ends_with(&format!("right? `{path}` is appended to it")), "{reason}");
    }
}

/// The first event of each provider, which has nothing of the answer.
fn first_events() -> [String; 4] {
    let delta = json!({ "choices": [{ "delta": { "role": "assistant", "content": "" } }] });
    let start = json!({ "type": "message_start", "message": { "usage": {} } });
    let content = json!({ "candidates": [{ "content": { "parts": [] } }] });
    let line = json!({ "message": { "role": "assistant", "content": "" }, "done": false });
    [
        format!("data: {delta}\n\n"),
        format!("event: message_start\ndata: {start}\n\n"),
        format!("data: {content}\n\n"),
        format!("{line}\n"),
    ]
}

#[tokio::test]
async fn a_stream_that_ends_after_its_first_event_is_cut() {
    for (index, event) in first_events().into_iter().enumerate() {
        let provider = Provider::start(vec![Answer::Frames(vec![event])]).await;
        assert_cut(each_provider(&provider.url).swap_remove(index)).await;
    }
}

#[tokio::test]
async fn a_first_event_that_ends_in_the_middle_is_cut() {
    for (index, event) in first_events().into_iter().enumerate() {
        let half = event[..event.len() - 8].to_owned();
        let provider = Provider::start(vec![Answer::Frames(vec![half])]).await;
        assert_cut(each_provider(&provider.url).swap_remove(index)).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_first_event_is_cut() {
    for index in 0..4 {
        let provider = Provider::start(vec![Answer::Broken(Vec::new())]).await;
        assert_cut(each_provider(&provider.url).swap_remove(index)).await;
    }
}

#[tokio::test]
async fn a_404_names_the_path_that_is_appended_to_the_url() {
    let body = json!({ "error": { "message": "No such model." } }).to_string();
    let bodies = [("<html>secret</html>".to_owned(), ""), (body, "No such model; ")];
    for (body, message) in bodies {
        let refused = || Answer::Refused(404, HeaderMap::new(), body.clone());
        for (error, path) in errors(refused).await.iter().zip(PATHS) {
            assert_eq!(
                error.to_string(),
                format!(
                    "model `test-model` answered with status 404: {message}is the URL right? \
                     `{path}` is appended to it",
                ),
            );
        }
    }
}

#[tokio::test]
async fn a_redirect_to_a_login_page_is_not_followed_and_told() {
    for status in [301, 302, 303] {
        for place in ["/login?from=secret", "https://login.invalid/secret"] {
            let headers = HeaderMap::from_iter([(header::LOCATION, place.parse().unwrap())]);
            let redirect =
                || Answer::Refused(status, headers.clone(), "Moved to secret".to_owned());
            for error in errors(redirect).await {
                assert_eq!(
                    error.to_string(),
                    format!(
                        "model `test-model` answered with status {status}: the server redirects \
                         to another place; set the URL of the API itself",
                    ),
                );
            }
        }
    }
}

#[tokio::test]
async fn a_redirect_within_the_server_that_keeps_the_request_is_followed() {
    for status in [307, 308] {
        for index in 0..4 {
            let headers = HeaderMap::from_iter([(header::LOCATION, "/v2".parse().unwrap())]);
            let redirect = Answer::Status(status, headers);
            let refused = Answer::Status(400, HeaderMap::new());
            let provider = Provider::start(vec![redirect, refused]).await;
            let error = chunks(&each_provider(&provider.url)[index]).await.remove(0).unwrap_err();
            assert!(matches!(error, ModelError::Status { status: 400, .. }), "{error}");
            let [first, second] = provider.requests().try_into().ok().expect("two requests");
            assert_eq!((&*second.uri, second.body), ("/v2", first.body));
        }
    }
}

#[tokio::test]
async fn a_refusal_whose_body_breaks_has_no_message() {
    for index in 0..4 {
        let url = raw_server(b"HTTP/1.1 500 Oh\r\ncontent-length: 99\r\n\r\nhalf").await;
        let model = each_provider(&format!("{url}/secret")).swap_remove(index);
        let error = chunks(&model).await.remove(0).unwrap_err();
        assert_eq!(error.to_string(), "model `test-model` answered with status 500");
    }
}

/// A server that answers one request with these bytes and ends the connection.
async fn raw_server(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        // Unread bytes would reset the connection before the answer is read.
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            connection.read_buf(&mut request).await.unwrap();
        }
        connection.write_all(answer).await.unwrap();
        connection.shutdown().await.unwrap();
    });
    url
}
