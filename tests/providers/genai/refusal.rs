//! Errors of providers: what they show, and what they leave out.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use futures::StreamExt;
use hooks_agent_core::message::Msg;
use hooks_agent_core::model::{ChatModel, ChatRequest, ModelError};
use hooks_agent_providers::GenAiModel;
use serde_json::{Value, json};

use crate::provider::{Answer, Provider, chunks, each_provider};

const KEY: &str = "test-key";

fn headers(headers: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    headers.iter().map(pair).collect()
}

/// The error of a model that is refused with this body.
async fn refused(model: impl Fn(&str) -> GenAiModel, body: &str, sent: HeaderMap) -> ModelError {
    let provider = Provider::start(vec![Answer::Refused(400, sent, body.to_owned())]).await;
    chunks(&model(&provider.url)).await.remove(0).unwrap_err()
}

/// The same of a model that is compatible with `OpenAI`'s, with a message alone.
async fn message(text: &str) -> String {
    let body = json!({ "error": { "message": text } }).to_string();
    match refused(openai, &body, HeaderMap::new()).await {
        ModelError::Status { message, .. } => message.unwrap_or_default(),
        error => panic!("{error}"),
    }
}

fn openai(url: &str) -> GenAiModel {
    GenAiModel::openai_compatible(url, KEY, "gpt-99")
}

#[tokio::test]
async fn a_refusal_has_the_message_and_the_request_of_openai() {
    let error = json!({
        "message": "The model `gpt-99` does not exist.",
        "type": "invalid_request_error",
        "param": "the prompt was: go",
        "code": "model_not_found",
    });
    let sent = headers(&[("x-request-id", "req_1"), ("retry-after", "3")]);
    let error = refused(openai, &json!({ "error": error }).to_string(), sent).await;
    assert_eq!(
        error.to_string(),
        "model `gpt-99` answered with status 400: The model `gpt-99` does not exist (request \
         req_1), retry after 3 s",
    );
    let ModelError::Status { status, message, request_id, retry_after, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(status, 400);
    assert_eq!(message.as_deref(), Some("The model `gpt-99` does not exist."));
    assert_eq!(request_id.as_deref(), Some("req_1"));
    assert_eq!(retry_after, Some(Duration::from_secs(3)));
}

#[tokio::test]
async fn a_refusal_has_the_message_of_a_compatible_server() {
    let body = json!({ "object": "error", "message": "No such model", "input": "go" });
    let error = refused(openai, &body.to_string(), HeaderMap::new()).await;
    let text = "model `gpt-99` answered with status 400: No such model";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn a_refusal_has_the_message_and_the_request_of_anthropic() {
    let model = |url: &str| GenAiModel::anthropic(KEY, "claude").endpoint(url);
    let error = json!({ "type": "not_found_error", "message": "model: claude" });
    let body = json!({ "type": "error", "error": error, "request_id": "req_2" }).to_string();
    let error = refused(model, &body, HeaderMap::new()).await;
    let text = "model `claude` answered with status 400: model: claude (request req_2)";
    assert_eq!(error.to_string(), text);
    let error = refused(model, &body, headers(&[("request-id", "req_3")])).await;
    let text = "model `claude` answered with status 400: model: claude (request req_3)";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn a_refusal_has_the_message_and_the_delay_of_gemini() {
    let model = |url: &str| GenAiModel::gemini(KEY, "gemini").endpoint(url);
    let error = json!({
        "code": 429,
        "message": "Quota exceeded.\nPlease retry in 2.5s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            { "@type": "type.googleapis.com/google.rpc.Help", "links": [] },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s" },
            { "@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": "req_4" },
        ],
    });
    let body = json!({ "error": error });
    for body in [body.clone(), json!([body])] {
        let error = refused(model, &body.to_string(), HeaderMap::new()).await;
        assert_eq!(
            error.to_string(),
            "model `gemini` answered with status 400: Quota exceeded. Please retry in 2.5s \
             (request req_4), retry after 3 s",
        );
        let ModelError::Status { retry_after, .. } = error else { panic!("{error}") };
        assert_eq!(retry_after, Some(Duration::from_millis(2500)));
    }
}

#[tokio::test]
async fn a_refusal_has_the_message_of_ollama() {
    let model = |url: &str| GenAiModel::ollama("llama").endpoint(url);
    let body = json!({ "error": "model 'llama' not found" }).to_string();
    let error = refused(model, &body, HeaderMap::new()).await;
    let text = "model `llama` answered with status 400: model 'llama' not found";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn a_body_of_another_form_is_not_quoted() {
    let bodies = [
        Value::Null,
        json!("secret"),
        json!(["secret"]),
        json!([{ "input": "secret" }]),
        json!({ "message": ["secret"], "detail": null }),
        json!({ "detail": [{ "input": "secret" }] }),
        json!({ "error": { "message": { "content": "secret" }, "input": "secret" } }),
        json!({ "error": { "message": " " }, "request_id": "no\nid" }),
        json!({ "error": 1, "request_id": "i".repeat(200) }),
    ];
    let texts = [
        "",
        "<html>secret</html>",
        " secret</p>",
        "{\"error\": {\"message\": \"sec",
        "data: {\"a\": \"secret\"}",
    ];
    let texts = texts.map(str::to_owned).into_iter().chain(bodies.map(|body| body.to_string()));
    for body in texts {
        for index in 0..4 {
            let model = |url: &str| each_provider(url).swap_remove(index);
            let error = refused(model, &body, HeaderMap::new()).await;
            assert_eq!(error.to_string(), "model `test-model` answered with status 400", "{body}");
        }
    }
}

#[tokio::test]
async fn the_sentence_of_a_gateway_is_the_message() {
    let sentence = "No route for test-key";
    let bodies = [
        format!("{sentence}\n"),
        json!({ "detail": sentence }).to_string(),
        json!({ "error": sentence }).to_string(),
        json!({ "message": sentence, "input": "secret" }).to_string(),
    ];
    for body in bodies {
        for index in 0..3 {
            let model = |url: &str| each_provider(url).swap_remove(index);
            let error = refused(model, &body, HeaderMap::new()).await;
            let text = "model `test-model` answered with status 400: No route for ***";
            assert_eq!(error.to_string(), text);
        }
        let model = |url: &str| each_provider(url).swap_remove(3);
        let error = refused(model, &body, HeaderMap::new()).await;
        assert!(error.to_string().ends_with("400: No route for test-key"), "{error}");
    }
    let error = refused(openai, &"ä".repeat(501), HeaderMap::new()).await.to_string();
    assert!(error.ends_with(&format!("400: {}...", "ä".repeat(500))), "{error}");
    let page = headers(&[("content-type", "text/html")]);
    let error = refused(openai, "No route", page).await.to_string();
    assert!(error.ends_with("status 400"), "{error}");
}

#[tokio::test]
async fn a_message_is_one_line_of_bounded_length() {
    assert_eq!(message(" a\r\n\tb\u{1b}[31m c \u{0} ").await, "a b [31m c");
    assert_eq!(message(&"ä".repeat(500)).await, "ä".repeat(500));
    assert_eq!(message(&"ä".repeat(501)).await, format!("{}...", "ä".repeat(500)));
}

#[tokio::test]
async fn the_key_of_the_model_is_masked_wherever_it_is() {
    for index in 0..3 {
        let model = |url: &str| each_provider(url).swap_remove(index);
        let body = json!({ "error": { "message": "the key atest-keyb, (test-key)" } }).to_string();
        let error = refused(model, &body, headers(&[("x-request-id", "test-key-1")])).await;
        assert_eq!(
            error.to_string(),
            "model `test-model` answered with status 400: the key ***, (***) (request ***-1)",
        );
    }
    // Half of the key is not left at the end.
    let text = "a ".repeat(248);
    assert_eq!(message(&format!("{text}{KEY} more")).await, format!("{text}***..."));
}

#[tokio::test]
async fn the_password_of_the_url_is_masked() {
    for user in ["user:hunter-2", "hunter-2"] {
        let model = |url: &str| openai(&url.replace("//", &format!("//{user}@")));
        let body = json!({ "error": { "message": "who is hunter-2?" } }).to_string();
        let error = refused(model, &body, HeaderMap::new()).await;
        assert!(error.to_string().ends_with("400: who is ***?"), "{error}");
    }
}

#[tokio::test]
async fn the_id_of_a_request_is_no_key() {
    let sent = headers(&[("x-request-id", "0123456789abcdef0123456789abcdef")]);
    let error = refused(openai, "", sent).await.to_string();
    assert!(error.ends_with("400 (request 0123456789abcdef0123456789abcdef)"), "{error}");
    let sent = headers(&[("x-request-id", "not an id"), ("request-id", "req_1")]);
    let error = refused(openai, "", sent).await.to_string();
    assert!(error.ends_with("400 (request req_1)"), "{error}");
}

#[tokio::test]
async fn what_looks_like_a_key_is_masked() {
    let cases = [
        (
            "Incorrect API key provided: sk-proj-1a/2b. Find it",
            "Incorrect API key provided: ***. Find it",
        ),
        ("Incorrect key other****ab1c.", "Incorrect key ***."),
        ("header 'Authorization: Bearer aB3/x=='", "header 'Authorization: *** ***'"),
        ("bearer aBcD is unknown", "bearer *** is unknown"),
        ("invalid bearer token", "invalid bearer token"),
        ("GET /v1?key=abc&alt=sse", "GET /v1?key=***&alt=sse"),
        ("api_key = \"abc\"", "api_key = \"***\""),
        ("{'x-api-key': 'a1'}", "{'x-api-key': '***'}"),
        ("invalid x-api-key", "invalid x-api-key"),
        ("unknown key: max_tokens", "unknown key: max_tokens"),
        ("at http://user:p@ss@host/path", "at http://***@host/path"),
        ("mail help@host.com", "mail help@host.com"),
        ("AIzaSyA-1_b", "***"),
        ("key=... or key=", "key=... or key="),
        ("key 0123456789abcdef0123456789abcdef!", "key ***!"),
        ("max_tokens: 99 > 64, max_tokens=99", "max_tokens: 99 > 64, max_tokens=99"),
    ];
    for (text, masked) in cases {
        assert_eq!(message(text).await, masked);
    }
}

#[tokio::test]
async fn milliseconds_and_unreadable_times_to_wait() {
    let waits = [
        (headers(&[("retry-after-ms", "1500"), ("retry-after", "9")]), Some(1500)),
        (headers(&[("retry-after", " 2 ")]), Some(2000)),
        (headers(&[("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT")]), None),
        (headers(&[("retry-after", "-1")]), None),
        (headers(&[("retry-after", "inf")]), None),
    ];
    for (sent, expected) in waits {
        let ModelError::Status { retry_after, .. } = refused(openai, "", sent).await else {
            panic!("not a status")
        };
        assert_eq!(retry_after, expected.map(Duration::from_millis));
    }
}

#[tokio::test]
async fn a_message_that_quotes_the_request_has_nothing_of_it() {
    let prompt = "Dear colleagues,\n  the merger is to be announced on the third of the month: ä.";
    let line = "Dear colleagues, the merger is to be announced on the third of the month: ä.";
    let quotes = [
        format!("Bad input '{line}' in 'messages'"),
        format!("Bad input '{prompt}' in 'messages'"),
        "Bad input 'colleagues, the merger is to be announced' in 'messages'".to_owned(),
        format!("Bad input '{line}{line}' in 'messages'"),
    ];
    for quote in quotes {
        for index in 0..4 {
            for is_streamed in [false, true] {
                let error = json!({ "error": { "message": quote } });
                let body = error.to_string();
                let answer = match (is_streamed, index) {
                    (false, _) => Answer::Refused(400, HeaderMap::new(), body),
                    (true, 3) => Answer::Frames(vec![format!("{body}\n")]),
                    (true, _) => Answer::Frames(vec![format!("event: error\ndata: {body}\n\n")]),
                };
                let provider = Provider::start(vec![answer]).await;
                let model = each_provider(&provider.url).swap_remove(index);
                let messages = vec![Msg::system("Be brief."), Msg::user(prompt)];
                let request = ChatRequest::new(messages);
                let all: Vec<_> = model.stream(request).collect().await;
                let [Err(error)] = &all[..] else { panic!("{all:?}") };
                let text = error.to_string();
                assert!(text.ends_with(": Bad input '***' in 'messages'"), "{text}");
            }
        }
    }
}
