//! The HTTP client of a model: its connections, headers, timeouts and proxy.

use std::collections::HashSet;
use std::time::Duration;

use axum::http::HeaderMap;
use hooks_agent_core::model::ModelError;
use hooks_agent_providers::GenAiModel;
use hooks_fixtures::Reports;
use serde_json::json;
use tokio::net::TcpListener;
use tracing::Level;

use crate::provider::{Answer, Provider, answer, chunks, each_provider};

/// A short answer of each provider, in the order of `each_provider`.
fn short_answers() -> [Answer; 4] {
    let delta = json!({ "choices": [{ "delta": { "content": "Hi." } }] });
    let start = json!({ "type": "message_start", "message": { "usage": {} } });
    let stop = json!({ "type": "message_stop" });
    let content = json!({ "parts": [{ "text": "Hi." }] });
    let candidate = json!({ "content": content, "finishReason": "STOP" });
    let message = json!({ "role": "assistant", "content": "Hi." });
    let line = json!({ "message": message, "done": true, "eval_count": 1 });
    [
        format!("data: {delta}\n\ndata: [DONE]\n\n"),
        format!("event: message_start\ndata: {start}\n\nevent: message_stop\ndata: {stop}\n\n"),
        format!("data: {}\n\n", json!({ "candidates": [candidate] })),
        format!("{line}\n"),
    ]
    .map(Answer::Whole)
}

fn short_answer() -> Answer {
    short_answers().into_iter().next().expect("four answers")
}

/// A model of a server that is compatible with `OpenAI`'s.
fn openai(url: &str) -> GenAiModel {
    GenAiModel::openai_compatible(url, "test-key", "test-model")
}

async fn error_of(model: &GenAiModel) -> ModelError {
    chunks(model).await.pop().expect("an error").unwrap_err()
}

/// Why the provider cannot be reached.
async fn unreachable_reason(model: &GenAiModel) -> String {
    let error = error_of(model).await;
    let ModelError::Unreachable { reason, is_unsent, .. } = error else { panic!("{error}") };
    assert_eq!(is_unsent, reason.starts_with("no connection"), "{reason}");
    reason
}

#[tokio::test]
async fn calls_of_a_model_and_its_clones_share_a_connection() {
    for index in 0..4 {
        let answers = (0..3).map(|_| short_answers().into_iter().nth(index).expect("an answer"));
        let provider = Provider::start(answers.collect()).await;
        let model = each_provider(&provider.url).swap_remove(index);
        let clone = model.clone();
        for model in [&model, &clone, &model] {
            answer(model).await;
        }
        let requests = provider.requests();
        assert_eq!(requests.len(), 3);
        let connections: HashSet<_> = requests.iter().map(|request| request.peer).collect();
        assert_eq!(connections.len(), 1, "{model:?}");
    }
}

#[tokio::test]
async fn a_changed_clone_has_its_own_options() {
    let provider = Provider::start(vec![short_answer(), short_answer()]).await;
    let model = openai(&provider.url);
    let changed = model.clone().header("x-team", "blue");
    answer(&changed).await;
    answer(&model).await;
    let [first, second] = provider.requests().try_into().ok().expect("two requests");
    assert_eq!(first.headers["x-team"], "blue");
    assert!(!second.headers.contains_key("x-team"));
}

#[test]
fn a_model_is_asked_in_one_runtime_after_another() {
    let server = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let provider = server.block_on(Provider::start(vec![short_answer(), short_answer()]));
    let model = openai(&provider.url);
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(answer(&model));
    }
    assert_eq!(provider.requests().len(), 2);
}

#[tokio::test]
async fn headers_are_sent_once_and_replace_those_of_the_same_name() {
    let keys = [
        ("authorization", "Bearer test-key"),
        ("x-api-key", "test-key"),
        ("x-goog-api-key", "test-key"),
    ];
    for (index, (own, key)) in keys.into_iter().enumerate() {
        let refusals = (0..2).map(|_| Answer::Status(400, HeaderMap::new())).collect();
        let provider = Provider::start(refusals).await;
        let model = each_provider(&provider.url).swap_remove(index);
        let model = model.header("X-Team", "red").header("x-team", "blue");
        error_of(&model).await;
        error_of(&model.header(own.to_uppercase(), "other")).await;
        let [first, second] = provider.requests().try_into().ok().expect("two requests");
        let values = |headers: &HeaderMap, name: &str| -> Vec<String> {
            let values = headers.get_all(name).iter();
            values.map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(values(&first.headers, "x-team"), ["blue"]);
        assert_eq!(values(&first.headers, own), [key]);
        assert_eq!(values(&second.headers, own), ["other"]);
    }
}

#[tokio::test]
async fn an_invalid_header_is_an_error_of_the_call_and_not_quoted() {
    let provider = Provider::start(Vec::new()).await;
    let cases = [
        ("x secret", "a", "the name of header 2 is invalid, write letters, digits and `-`"),
        ("", "a", "the name of header 2 is invalid, write letters, digits and `-`"),
        (
            "x-key",
            "secret\n",
            "the value of header `x-key` is invalid, write visible ASCII characters on one line",
        ),
        ("x(key)", "a", "the name of header `x(key)` is invalid, write letters, digits and `-`"),
        ("x-key:secret", "a", "the name of header 2 is invalid, write letters, digits and `-`"),
        ("sk-1\"", "a", "the name of header 2 is invalid, write letters, digits and `-`"),
    ];
    for (name, value, expected) in cases {
        for model in each_provider(&provider.url) {
            let error = error_of(&model.header("x-team", "blue").header(name, value)).await;
            let ModelError::Failed { reason, .. } = error else { panic!("{error}") };
            assert_eq!(reason, expected);
        }
    }
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn a_secret_of_a_header_is_in_no_text() {
    let (reports, records) = Reports::up_to(Level::TRACE);
    let reporting = tracing::subscriber::set_default(reports);
    let message = "hunter-2-more and hunter-2 are unknown";
    let body = json!({ "error": { "message": message } }).to_string();
    let provider = Provider::start(vec![Answer::Refused(401, HeaderMap::new(), body)]).await;
    let model = openai(&provider.url).header("x-token", "Bearer hunter-2 hunter-2-more");
    let error = error_of(&model).await;
    drop(reporting);
    assert_eq!(
        error.to_string(),
        "model `test-model` answered with status 401: *** and *** are unknown",
    );
    let own: Vec<_> = records.take();
    // What the crate traces of a body is documented; of the request it traces nothing.
    let own = own.iter().filter(|record| !record.contains(message));
    for text in own.chain([&format!("{model:?} {model:#?} {error:?}")]) {
        assert!(!text.contains("hunter-2"), "{text}");
    }
}

/// A server that accepts connections and never answers.
async fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let (_listener, url) = silent().await;
    for model in each_provider(&url) {
        let reason = unreachable_reason(&model.read_timeout(Duration::from_millis(50))).await;
        assert_eq!(reason, "nothing received for 50ms, see `read_timeout`");
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_times_out() {
    for index in 0..4 {
        let provider = Provider::start(vec![Answer::Silent(vec!["\n".to_owned()])]).await;
        let model = each_provider(&provider.url).swap_remove(index);
        let reason = unreachable_reason(&model.read_timeout(Duration::from_millis(50))).await;
        assert_eq!(reason, "nothing received for 50ms, see `read_timeout`");
    }
}

/// The system drops connections beyond those that wait to be accepted.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_that_accepts_no_connection_times_out() {
    use futures::stream::FuturesUnordered;
    use futures::{StreamExt, future};
    use tokio::net::{TcpSocket, TcpStream};

    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting: FuturesUnordered<_> = (0..8).map(|_| TcpStream::connect(address)).collect();
    let _first = waiting.next().await;
    // The others are tried, and one of them may be accepted, too.
    let _ = future::poll_immediate(waiting.next()).await;
    let model = openai(&format!("http://{address}"));
    let model = model.connect_timeout(Duration::from_millis(50));
    let reason = unreachable_reason(&model).await;
    assert_eq!(reason, "no connection for 50ms, see `connect_timeout`");
}

#[tokio::test]
async fn requests_go_through_the_proxy() {
    for index in 0..4 {
        let short = short_answers().into_iter().nth(index).expect("an answer");
        let proxy = Provider::start(vec![short]).await;
        let model = each_provider("http://model.invalid").swap_remove(index);
        let url = proxy.url.replace("//", "//user:hunter-2@");
        let model = model.proxy(&url);
        answer(&model).await;
        let request = proxy.requests().remove(0);
        assert!(request.uri.starts_with("http://model.invalid/"), "{}", request.uri);
        assert_eq!(request.headers["proxy-authorization"], "Basic dXNlcjpodW50ZXItMg==");
        assert!(!format!("{model:?}").contains("hunter-2"));
    }
}

#[tokio::test]
async fn the_proxy_is_used_for_this_machine_too_and_can_be_taken_back() {
    let proxy = Provider::start(vec![short_answer()]).await;
    let provider = Provider::start(vec![short_answer()]).await;
    let model = openai(&provider.url).proxy(&proxy.url);
    answer(&model).await;
    assert!(proxy.requests().remove(0).uri.starts_with(&provider.url));
    answer(&model.no_proxy()).await;
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named_without_its_password() {
    let (reports, records) = Reports::up_to(Level::TRACE);
    let reporting = tracing::subscriber::set_default(reports);
    let (listener, url) = silent().await;
    drop(listener);
    let model = openai("http://model.invalid").proxy(url.replace("//", "//hunter-2:hunter-2@"));
    let error = error_of(&model).await;
    drop(reporting);
    let ModelError::Unreachable { endpoint, reason, .. } = &error else { panic!("{error}") };
    assert_eq!(endpoint, "http://model.invalid");
    assert!(reason.starts_with(&format!("through the proxy {url}: ")), "{reason}");
    assert!(reason.contains("refused"), "{reason}");
    for text in [records.take(), vec![format!("{model:?} {error} {error:?}")]].concat() {
        assert!(!text.contains("hunter-2"), "{text}");
    }
}

#[tokio::test]
async fn an_invalid_proxy_is_an_error_of_the_call_and_not_quoted() {
    let provider = Provider::start(Vec::new()).await;
    for proxy in ["secret", "ftp://secret@proxy", "http://u:secret@proxy:none", "http://p?secret"] {
        for model in each_provider(&provider.url) {
            let model = model.proxy(proxy);
            let error = error_of(&model).await;
            let ModelError::Unreachable { reason, .. } = &error else { panic!("{error}") };
            assert!(reason.starts_with("the proxy is invalid: "), "{reason}");
            assert!(!format!("{model:?} {error} {error:?}").contains("secret"));
        }
    }
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn the_password_of_the_proxy_is_masked() {
    let body = json!({ "error": { "message": "who is hunter-2?" } }).to_string();
    let proxy = Provider::start(vec![Answer::Refused(407, HeaderMap::new(), body)]).await;
    let model = openai("http://model.invalid");
    let error = error_of(&model.proxy(proxy.url.replace("//", "//user:hunter-2@"))).await;
    assert!(error.to_string().ends_with("status 407: who is ***?"), "{error}");
}
