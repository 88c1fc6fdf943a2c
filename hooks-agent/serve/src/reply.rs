//! Answers of a guard as replies of HTTP.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response};
use hooks_agent_guest::Answer;
use serde::Serialize;

/// The header with the exit code.
const CODE: &str = "hooks-agent-code";

/// The header with how many bytes of the body are standard output. The rest is standard error.
const OUTPUT: &str = "hooks-agent-output";

/// Returns what a program that runs as a hook prints, and its exit code.
pub(crate) fn of_program(answer: &Answer) -> Response<Body> {
    let mut body = match &answer.json {
        Some(json) => format!("{json}\n"),
        None => String::new(),
    };
    let output = body.len();
    if let Some(error) = &answer.error {
        body.push_str(error);
        body.push('\n');
    }
    let mut reply = Response::new(Body::from(body));
    reply.headers_mut().insert(CODE, HeaderValue::from(u16::from(answer.code)));
    reply.headers_mut().insert(OUTPUT, HeaderValue::from(output));
    reply
}

/// The block of an agent's HTTP handler, which has no exit code.
#[derive(Serialize)]
struct Block<'a> {
    decision: &'static str,
    reason: &'a str,
    #[serde(rename = "continue")]
    goes_on: bool,
    #[serde(rename = "stopReason")]
    stop_reason: &'a str,
}

/// Returns what an HTTP handler of an agent reads: always the status 200, since an agent goes on with any other.
pub(crate) fn of_handler(answer: &Answer) -> Response<Body> {
    let reason = answer.error.as_deref().unwrap_or("blocked by the policy");
    let block = Block { decision: "block", reason, goes_on: false, stop_reason: reason };
    let body = match &answer.json {
        Some(json) => json.to_string(),
        None if answer.code == 0 => "{}".to_owned(),
        None => serde_json::to_string(&block).unwrap_or_default(),
    };
    let mut reply = Response::new(Body::from(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
