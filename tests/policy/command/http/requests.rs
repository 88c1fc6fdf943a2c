//! What servers receive.

use axum::http::{Method, header};
use hmac::{Hmac, KeyInit, Mac};
use hooks_agent_policy::command::{CommandEntry, Input};
use serde_json::json;
use sha2::Sha256;

use crate::http::server::{Server, hooks, tool_call};

#[tokio::test]
async fn a_server_receives_the_input_of_a_program() {
    let server = Server::answering(200, "{}").await;
    tool_call(hooks([server.guard()])).await.assert_continues();
    let (method, headers, body) = server.received.lock().unwrap().pop().unwrap();
    assert_eq!(
        (method, &headers[header::CONTENT_TYPE]),
        (Method::POST, &"application/json".parse().unwrap())
    );
    let input = Input::parse(&body).unwrap();
    assert_eq!(input.hook_event_name, "PreToolUse");
    assert_eq!(input.tool_input, Some(json!({ "path": "a.txt" })));
}

#[tokio::test]
async fn a_server_is_asked_about_what_matches_alone() {
    let server = Server::denying("no").await;
    let entries = [server.guard().matcher("other"), server.guard().condition("write_file(b.*)")];
    tool_call(hooks(entries)).await.assert_continues();
    assert!(server.received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn of_two_equal_requests_one_is_sent() {
    let server = Server::answering(200, "{}").await;
    tool_call(hooks([server.guard(), server.guard(), server.guard().header("x-mode", "b")]))
        .await
        .assert_continues();
    assert_eq!(server.received.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn headers_have_the_values_of_their_variables() {
    let server = Server::answering(200, "{}").await;
    let guard = server
        .guard()
        .env("TOKEN", "6c1")
        .pass_env("HOME")
        .header("authorization", "Bearer $TOKEN")
        .header("x-from", "${HOME}/1 costs 5$ or $-")
        .header("X-From-Twice", "first")
        .header("x-from-twice", "$TOKEN$TOKEN");
    tool_call(hooks([guard])).await.assert_continues();
    let (headers, _) = server.last();
    assert_eq!(headers["authorization"], "Bearer 6c1");
    let home = std::env::var("HOME").unwrap();
    assert_eq!(headers["x-from"], format!("{home}/1 costs 5$ or $-"));
    assert_eq!(headers["x-from-twice"], "6c16c1");
}

/// Checks a signature as a server does.
fn is_signed(key: &[u8], header: &str, body: &[u8]) -> bool {
    let (time, signature) = header.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    let digits = signature.as_bytes().chunks(2).map(|it| std::str::from_utf8(it).unwrap());
    let bytes: Vec<_> = digits.map(|it| u8::from_str_radix(it, 16).unwrap()).collect();
    time.parse::<u64>().unwrap() > 1_700_000_000 && mac.verify_slice(&bytes).is_ok()
}

#[tokio::test]
async fn a_server_can_tell_who_signed_a_request() {
    let server = Server::answering(200, "{}").await;
    tool_call(hooks([server.guard().sign_with("a secret")])).await.assert_continues();
    let (headers, body) = server.last();
    let header = headers["x-hooks-signature"].to_str().unwrap();
    assert!(is_signed(b"a secret", header, &body));
    assert!(!is_signed(b"another secret", header, &body));
    assert!(!is_signed(b"a secret", header, &[&body[..], b" "].concat()));
    tool_call(hooks([server.guard()])).await.assert_continues();
    assert!(!server.last().0.contains_key("x-hooks-signature"));
}

/// Runs another test where the environment names proxies, which are not there.
#[test]
fn no_proxy_of_the_environment_is_asked() {
    let test = "http::requests::a_server_receives_the_input_of_a_program";
    let mut tests = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        tests.env(name, "http://127.0.0.1:9");
    }
    let output = tests.args([test, "--exact"]).output().unwrap();
    let written = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && written.contains("1 passed"), "{written}");
}

#[tokio::test]
async fn events_that_nobody_waits_for_are_sent_too() {
    let server = Server::answering(200, "{}").await;
    let hooks = hooks([CommandEntry::http("SessionEnd", server.url())]);
    hooks.close().await;
    assert_eq!(Input::parse(&server.last().1).unwrap().hook_event_name, "SessionEnd");
}
