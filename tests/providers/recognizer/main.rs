//! A recognizer behind a URL: the analyzer of Presidio, and servers that answer wrongly.

mod presidio;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::PiiRecognition;
use hooks_agent_core::model::{Recognized, Recognizer};
use hooks_agent_core::prelude::*;
use hooks_agent_providers::{RemoteRecognizer, RemoteRecognizerError};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The requests that a server received.
type Received = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A server that gives this answer to each request.
async fn answering(status: u16, answer: impl Into<String>) -> (RemoteRecognizer, Received) {
    let (received, answer) = (Received::default(), answer.into());
    let noted = received.clone();
    let analyze = move |headers: HeaderMap, body: Bytes| async move {
        noted.lock().unwrap().push((headers, serde_json::from_slice(&body).unwrap()));
        (StatusCode::from_u16(status).unwrap(), answer)
    };
    let place = listen(Router::new().route("/base/analyze", post(analyze))).await;
    (RemoteRecognizer::new(format!("http://{place}/base/"), "en").unwrap(), received)
}

async fn listen(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    place
}

#[tokio::test]
async fn texts_are_sent_at_once_and_places_are_counted_in_characters() {
    let answer = json!([
        [{ "entity_type": "PERSON", "start": 0, "end": 3, "score": 0.85, "analysis_explanation": null }],
        [],
        [{ "entity_type": "EMAIL_ADDRESS", "start": 3, "end": 8, "score": 1.0 },
         { "entity_type": "US_PASSPORT", "start": 0, "end": 2, "score": 0.1 }],
    ]);
    let (recognizer, received) = answering(200, answer.to_string()).await;
    let recognizer = recognizer.bearer("token").unwrap();
    let found =
        recognizer.recognize(&["Zo\u{eb} is", "x", "\u{674e}\u{5c0f} a@b.c"]).await.unwrap();
    assert_eq!(found[0], [Recognized::new("person", 0..4, 0.85)]);
    assert!(found[1].is_empty());
    let expected =
        [Recognized::new("email", 7..12, 1.0), Recognized::new("us_passport", 0..6, 0.1)];
    assert_eq!(found[2], expected);
    let (headers, body) = received.lock().unwrap().pop().unwrap();
    assert_eq!(headers[header::AUTHORIZATION], "Bearer token");
    let texts = ["Zo\u{eb} is", "x", "\u{674e}\u{5c0f} a@b.c"];
    let expected = json!({ "text": texts, "language": "en", "entities": ["PERSON", "LOCATION"] });
    assert_eq!(body, expected);
    recognizer.all_entities().recognize(&["ten letters"; 3]).await.unwrap();
    let (_, body) = received.lock().unwrap().pop().unwrap();
    assert_eq!(body.get("entities"), None);
}

#[tokio::test]
async fn a_wrong_answer_is_an_error_that_quotes_nothing() {
    let item = |start: usize, end: usize| json!([[{ "entity_type": "PERSON", "start": start, "end": end, "score": 1 }]]);
    for (status, answer, reason) in [
        (500, json!({ "error": "Ada" }), "it answered with status 500"),
        (302, json!("Ada"), "it answered with status 302"),
        (200, json!([]), "it answered for 0 of 1 texts"),
        (200, json!([[], []]), "it answered for 2 of 1 texts"),
        (200, json!({ "Ada": 1 }), "its answer is not one list of entities for each text"),
        (200, json!([[{ "entity_type": "Ada" }]]), "its answer is not one list"),
        (200, item(0, 4), "it found something outside of a text"),
        (200, item(2, 2), "it found something outside of a text"),
        (200, item(3, 1), "it found something outside of a text"),
    ] {
        let (recognizer, _) = answering(status, answer.to_string()).await;
        let error = recognizer.recognize(&["Ada"]).await.unwrap_err().to_string();
        assert!(error.contains(reason) && !error.contains("Ada"), "{error}");
        // Such a text is blocked.
        let agent = ReActAgent::builder("bot").model(ScriptedModel::new("ok", |_| "ok"));
        let agent = agent.hook(PiiDetection::of([]).recognizer(recognizer)).build().unwrap();
        let error = agent.call("Ada").await.unwrap_err();
        let shown = format!("{error:?} {error}");
        assert!(shown.contains(reason) && !shown.contains("Ada"), "{shown}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let endless =
        || async {
            let chunks = futures::stream::repeat(Ok::<_, std::convert::Infallible>(Bytes::from(
                vec![b' '; 1 << 20],
            )));
            Response::new(axum::body::Body::from_stream(chunks))
        };
    let place = listen(Router::new().route("/analyze", post(endless))).await;
    let recognizer = RemoteRecognizer::new(format!("http://{place}"), "en").unwrap();
    let error = recognizer.recognize(&["Ada"]).await.unwrap_err().to_string();
    assert!(error.contains("its answer has more than 16777216 bytes"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (_, received) = answering(200, "[[]]").await;
    let to = |_: Bytes| async {
        (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/else")]).into_response()
    };
    let noted = received.clone();
    let other = move |headers: HeaderMap, body: Bytes| async move {
        noted.lock().unwrap().push((headers, serde_json::from_slice(&body).unwrap()));
        "[[]]"
    };
    let router = Router::new().route("/analyze", post(to)).route("/else", post(other));
    let place = listen(router).await;
    let recognizer = RemoteRecognizer::new(format!("http://{place}"), "en").unwrap();
    let error = recognizer.recognize(&["Ada"]).await.unwrap_err().to_string();
    assert_eq!(
        (error.as_str(), received.lock().unwrap().len()),
        ("it answered with status 307", 0)
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_left_and_the_text_is_blocked() {
    let silent = || std::future::pending::<&'static str>();
    let place = listen(Router::new().route("/analyze", post(silent))).await;
    let recognizer = RemoteRecognizer::new(format!("http://{place}"), "en").unwrap();
    let recognition = PiiRecognition::of(recognizer).timeout(Duration::from_millis(20));
    let agent = ReActAgent::builder("bot").model(ScriptedModel::new("ok", |_| "ok"));
    let agent = agent.hook(PiiDetection::all().recognizer(recognition)).build().unwrap();
    let error = agent.call("Ada").await.unwrap_err().to_string();
    let name = format!("`presidio/en/PERSON,LOCATION at http://{place}`");
    assert!(error.contains(&format!("{name} did not answer within 20ms")), "{error}");
    // Nobody listens.
    let recognizer = RemoteRecognizer::new("http://127.0.0.1:9", "en").unwrap();
    let error = recognizer.recognize(&["Ada"]).await.unwrap_err().to_string();
    assert!(!error.contains("Ada"), "{error}");
}

#[test]
fn texts_cross_no_network_without_encryption() {
    for url in ["http://presidio.example:5002", "http://10.0.0.7", "http://localhost.example"] {
        let error = RemoteRecognizer::new(url, "en").unwrap_err();
        assert!(matches!(error, RemoteRecognizerError::Plain { .. }), "{error}");
        assert!(error.to_string().contains("without encryption: use `https`"), "{error}");
    }
    for url in ["https://presidio.example", "http://localhost:5002", "http://[::1]:5002/x/"] {
        let _recognizer = RemoteRecognizer::new(url, "en").unwrap().entities(["person"]);
    }
}

#[test]
fn a_url_is_one_of_http_without_a_password_and_its_key_is_shown_nowhere() {
    for url in [
        "presidio",
        "ftp://localhost",
        "http://u:hunter2@localhost",
        "http://localhost/?key=hunter2",
    ] {
        let error = RemoteRecognizer::new(url, "en").unwrap_err();
        assert!(matches!(error, RemoteRecognizerError::Url), "{error}");
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error}");
    }
    let recognizer = RemoteRecognizer::new("http://localhost:5002", "en").unwrap();
    let error = recognizer.clone().bearer("hunter2\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the token of the recognizer has characters that a header cannot have"
    );
    let shown = format!("{:?}", recognizer.bearer("hunter2").unwrap());
    assert!(shown.contains("localhost:5002") && !shown.contains("hunter2"), "{shown}");
}
