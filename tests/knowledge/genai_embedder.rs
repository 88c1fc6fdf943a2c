//! `GenAiEmbedder` with servers on this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use hooks_agent_knowledge::Embedder;
use hooks_agent_providers::GenAiEmbedder;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const KEY: &str = "sk-very-secret-key";

type Asked = Arc<Mutex<Vec<(String, HeaderMap, Value)>>>;

/// Starts a server that answers every request alike. Returns its URL and what it is asked.
async fn start(
    status: StatusCode,
    answer: impl Fn(&Value) -> String + Clone + Send + Sync + 'static,
) -> (String, Asked) {
    let asked = Asked::default();
    let record = asked.clone();
    let handle = move |request: Request| {
        let (answer, record) = (answer.clone(), record.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let answer = answer(&body);
            record.lock().unwrap().push((parts.uri.path().to_owned(), parts.headers, body));
            (status, [("content-type", "application/json")], answer).into_response()
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().fallback(handle);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, asked)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The answer of a server that is compatible with `OpenAI`'s, in the wrong order.
fn backwards(body: &Value) -> String {
    let count = body["input"].as_array().unwrap().len();
    let data = (0..count).rev().map(
        |index| json!({ "object": "embedding", "index": index, "embedding": [index, 1.0, 0.5] }),
    );
    let usage = json!({ "prompt_tokens": 3, "total_tokens": 3 });
    json!({ "object": "list", "data": data.collect::<Vec<_>>(), "model": "m", "usage": usage })
        .to_string()
}

#[tokio::test]
async fn texts_are_embedded_in_their_order() {
    let (url, asked) = start(StatusCode::OK, backwards).await;
    let embedder = GenAiEmbedder::openai_compatible(url, KEY, "embed-small", 3);
    let vectors = embedder.embed(&texts(&["one", "two", "three"])).await.unwrap();
    assert_eq!(vectors, [[0.0, 1.0, 0.5], [1.0, 1.0, 0.5], [2.0, 1.0, 0.5]]);
    let asked = asked.lock().unwrap();
    let (path, headers, body) = &asked[0];
    assert_eq!(path, "/v1/embeddings");
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "embed-small");
    assert_eq!(body["input"], json!(["one", "two", "three"]));
    assert_eq!(body.get("dimensions"), None);
}

#[tokio::test]
async fn the_dimension_is_requested_by_choice() {
    let (url, asked) = start(StatusCode::OK, backwards).await;
    let embedder = GenAiEmbedder::openai_compatible(url, KEY, "m", 3).request_dimension();
    embedder.embed(&texts(&["one"])).await.unwrap();
    assert_eq!(asked.lock().unwrap()[0].2["dimensions"], 3);
}

#[tokio::test]
async fn ollama_and_gemini_are_asked_in_their_own_way() {
    let (url, asked) = start(StatusCode::OK, |_| {
        json!({ "model": "m", "embeddings": [[1.0, 2.0]], "prompt_eval_count": 1 }).to_string()
    })
    .await;
    let ollama = GenAiEmbedder::ollama("nomic", 2).endpoint(url.trim_end_matches("/v1"));
    assert_eq!(ollama.embed(&texts(&["one"])).await.unwrap(), [[1.0, 2.0]]);
    assert_eq!(asked.lock().unwrap()[0].0, "/api/embed");

    let (url, asked) = start(StatusCode::OK, |body| {
        let count = body["requests"].as_array().map_or(1, Vec::len);
        json!({ "embeddings": vec![json!({ "values": [1.0, 2.0] }); count] }).to_string()
    })
    .await;
    let gemini = GenAiEmbedder::gemini(KEY, "gemini-embedding-001", 2).endpoint(url);
    let vectors = gemini.embed(&texts(&["one", "two"])).await.unwrap();
    assert_eq!(vectors, [[1.0, 2.0], [1.0, 2.0]]);
    assert!(asked.lock().unwrap()[0].0.contains("gemini-embedding-001"));
}

#[tokio::test]
async fn errors_have_the_status_and_neither_key_nor_texts() {
    let quoting =
        |body: &Value| json!({ "error": { "message": format!("{KEY} {body}") } }).to_string();
    let (url, _) = start(StatusCode::UNAUTHORIZED, quoting).await;
    let embedder = GenAiEmbedder::openai_compatible(&url, KEY, "m", 3);
    let error = embedder.embed(&texts(&["private text"])).await.unwrap_err();
    let (shown, debug) = (error.to_string(), format!("{error:?}"));
    assert!(shown.contains("status 401") && shown.contains("127.0.0.1"), "{shown}");
    for text in [&shown, &debug, &format!("{embedder:?}")] {
        assert!(!text.contains("secret") && !text.contains("private"), "{text}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_without_its_text() {
    for answer in ["private text", "{}", "[1,2", r#"{"data":[{"embedding":"private"}]}"#] {
        let (url, _) = start(StatusCode::OK, move |_| answer.to_owned()).await;
        let embedder = GenAiEmbedder::openai_compatible(url, KEY, "m", 3);
        match embedder.embed(&texts(&["private text"])).await {
            Ok(vectors) => assert_ne!(vectors.len(), 1, "{answer}"),
            Err(error) => assert!(!format!("{error:?} {error}").contains("private"), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_is_away_or_silent_is_an_error() {
    let embedder = GenAiEmbedder::openai_compatible("http://127.0.0.1:9/v1", KEY, "m", 3);
    let error = embedder.embed(&texts(&["one"])).await.unwrap_err();
    assert!(error.to_string().contains("no connection"), "{error}");

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let embedder = GenAiEmbedder::openai_compatible(url, KEY, "m", 3);
    let embedder = embedder.timeout(Duration::from_millis(50));
    let error = embedder.embed(&texts(&["one"])).await.unwrap_err();
    assert!(error.to_string().contains("no answer within 50ms"), "{error}");
}

#[tokio::test]
async fn a_redirect_takes_the_key_nowhere() {
    let (other, asked) = start(StatusCode::OK, backwards).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let redirect = Router::new().fallback(move || async move {
        (StatusCode::TEMPORARY_REDIRECT, [("location", format!("{other}/embeddings"))])
    });
    tokio::spawn(async move { axum::serve(listener, redirect).await });
    let embedder = GenAiEmbedder::openai_compatible(url, KEY, "m", 3);
    let error = embedder.embed(&texts(&["one"])).await.unwrap_err();
    assert!(error.to_string().contains("status 307"), "{error}");
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_endpoint_that_is_no_url_is_an_error_that_does_not_quote_it() {
    for url in ["secret", "ftp://secret/", "https://host/v1?key=secret", "https://secret@host/#a"] {
        let embedder = GenAiEmbedder::openai_compatible(url, KEY, "m", 3);
        let error = embedder.embed(&texts(&["one"])).await.unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(!format!("{embedder:?}").contains("secret"), "{embedder:?}");
    }
}
