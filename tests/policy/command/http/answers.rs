//! What the answers of servers mean.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use hooks_agent_core::tool::Permission;
use hooks_agent_policy::command::{CommandEntry, OnFailure};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tracing::Level;

use crate::agents::{Log, Trial, assert_has, before_tools};
use crate::http::server::{Server, decision, hooks, listen, tool_call};

const UNCHECKED: &str = "hook `guard` could not check this call";

/// Asserts that the entry fails for this reason, which the log has and the model does not, and that it lets
/// the call go on if it may.
async fn assert_fails(entry: CommandEntry, why: &str) {
    let log = Log::up_to(Level::TRACE);
    tool_call(hooks([entry.clone()])).await.assert_refused(UNCHECKED);
    let continues = entry.on_failure(OnFailure::Continue);
    tool_call(hooks([continues])).await.assert_continues();
    let log = log.take();
    assert_has(&log, why);
    assert!(!log.contains("SECRET"), "{log}");
}

#[tokio::test]
async fn a_server_denies_a_tool_call_with_its_reason() {
    let server = Server::denying("no writes").await;
    let trial = Trial::of(hooks([server.guard()]), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    assert_eq!(trial.result().output, "no writes");
}

#[tokio::test]
async fn a_server_rewrites_the_arguments() {
    let answer = decision(&json!({ "updatedInput": { "path": "b.txt" } }));
    let server = Server::answering(201, answer).await;
    let trial = Trial::of(hooks([server.guard()]), Permission::Allow).await;
    assert_eq!(trial.ran, [json!({ "path": "b.txt" })]);
}

#[tokio::test]
async fn an_empty_object_decides_nothing() {
    let server = Server::answering(200, "\u{feff} {} \n").await;
    tool_call(hooks([server.guard()])).await.assert_continues();
}

#[tokio::test]
async fn an_empty_body_is_a_failure_unless_failures_continue() {
    for (status, body) in [(200, ""), (200, " \n"), (204, "")] {
        let server = Server::answering(status, body).await;
        tool_call(hooks([server.guard()])).await.assert_refused(UNCHECKED);
        let log = Log::up_to(Level::WARN);
        let continues = server.guard().on_failure(OnFailure::Continue);
        tool_call(hooks([continues])).await.assert_continues();
        assert_eq!(log.take(), "");
    }
}

#[tokio::test]
async fn another_status_or_body_is_a_failure() {
    let allow = decision(&json!({ "permissionDecision": "allow" }));
    for (status, body, why) in [
        (500, "SECRET", "it answered with status 500"),
        (403, "{}", "it answered with status 403"),
        (302, "{}", "it answered with status 302"),
        (404, &allow, "it answered with status 404"),
        (200, "SECRET", "expected a JSON object, found another body"),
        (200, "[]", "expected a JSON object"),
        (200, "null", "expected a JSON object"),
        (200, "{\"decision\":", "the body is no answer, at line 1, column 12: expected JSON"),
        (200, r#"{"reason": 1}"#, "`reason`: expected a text, found a number"),
        (200, r#"{"decison": "block"}"#, "did you mean `decision`?"),
        (200, r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#, "expected `PreToolUse`"),
    ] {
        assert_fails(Server::answering(status, body).await.guard(), why).await;
    }
}

#[tokio::test]
async fn a_refusal_in_an_answer_that_is_none_is_a_refusal() {
    for (status, body) in [
        (403, r#"{"decision":"block","reason":"no"}"#),
        (500, r#"{"permission":"deny","reason":"no"}"#),
        (200, r#"{"decision":"block","reason":"no","stop_reason":"x"}"#),
    ] {
        let server = Server::answering(status, body).await;
        let guard = server.guard().on_failure(OnFailure::Continue);
        tool_call(hooks([guard])).await.assert_refused("no");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::answering(200, "{}").await;
    let location = server.url();
    let redirect = move || async {
        (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]).into_response()
    };
    let address = listen(Router::new().route("/check", any(redirect))).await;
    let guard = CommandEntry::http("PreToolUse", format!("http://{address}/check"));
    assert_fails(guard.named("guard"), "it answered with status 307").await;
    assert!(server.received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_body_without_end_is_a_failure() {
    let endless = || async {
        let chunk = Ok::<_, std::convert::Infallible>(Bytes::from(vec![b'{'; 1 << 16]));
        Response::new(Body::from_stream(futures::stream::repeat(chunk)))
    };
    let address = listen(Router::new().route("/check", any(endless))).await;
    let guard = CommandEntry::http("PreToolUse", format!("http://{address}/check"));
    assert_fails(guard.named("guard"), "it answered with more than 1048576 bytes").await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_failure() {
    let guard = CommandEntry::http("PreToolUse", "http://127.0.0.1:1/SECRET").named("guard");
    assert_fails(guard, "the request failed: ").await;
}

#[tokio::test]
async fn a_server_that_closes_the_connection_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/SECRET", listener.local_addr().unwrap());
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let guard = CommandEntry::http("PreToolUse", url).named("guard");
    assert_fails(guard, "the request failed: ").await;
}

/// The clock stands still until nothing else is to do, and is then moved to the limit.
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_in_time_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let guard = CommandEntry::http("PreToolUse", url).named("guard");
    assert_fails(guard, "it did not answer within 30s").await;
}

#[test]
fn without_a_runtime_a_request_is_a_failure() {
    let guard = CommandEntry::http("PreToolUse", "http://127.0.0.1:9/").named("guard");
    futures::executor::block_on(assert_fails(guard, "no tokio runtime"));
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let hooks = hooks([CommandEntry::http("PreToolUse", url)]);
    let call = tokio::spawn(tool_call(hooks));
    let (mut connection, _) = listener.accept().await.unwrap();
    assert_ne!(connection.read(&mut [0; 64]).await.unwrap(), 0);
    call.abort();
    connection.read_to_end(&mut Vec::new()).await.unwrap();
}

#[tokio::test]
async fn the_strictest_of_servers_and_programs_holds() {
    let allows = decision(&json!({ "permissionDecision": "allow" }));
    let allowing = Server::answering(200, allows).await;
    let denying = Server::denying("by the server").await;
    let program = before_tools("echo 'by the program' >&2; exit 2");
    let entries = [allowing.guard(), denying.guard(), program];
    tool_call(hooks(entries)).await.assert_refused("by the server\n\nby the program");
}

#[tokio::test]
async fn in_a_sequence_a_server_reads_what_a_program_rewrote() {
    let server = Server::answering(200, "{}").await;
    let rewrites = crate::agents::decides(&json!({ "updatedInput": { "path": "b.txt" } }));
    let entries = [before_tools(&rewrites), server.guard()].map(|entry| entry.sequence(true));
    tool_call(hooks(entries)).await.assert_continues();
    let input: serde_json::Value = serde_json::from_slice(&server.last().1).unwrap();
    assert_eq!(input["tool_input"], json!({ "path": "b.txt" }));
}
