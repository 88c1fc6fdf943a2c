//! Forwards requests of agents, and answers of the server.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::mcp::http::sessions::Sessions;
use crate::mcp::http::stream::ServerStream;
use crate::mcp::http::upstream::{SESSION, Upstream, body};
use crate::mcp::messages::channel::{Channel, Passage};
use crate::mcp::messages::message::{self, NO_MESSAGE, NOT_ANSWERED};
use crate::mcp::report::Report;

/// What forwards.
pub(crate) struct Forward {
    pub(crate) upstream: Upstream,
    pub(crate) sessions: Sessions,
    pub(crate) report: Report,
}

impl Forward {
    /// Forwards a message of an agent.
    pub(crate) async fn post(&self, headers: HeaderMap, text: &[u8]) -> Response {
        let channel = match self.channel(&headers) {
            Ok(channel) => channel,
            Err((status, reason)) => return refused(status, reason),
        };
        let message = match channel.of_agent(text).await {
            Passage::On(message) => message,
            Passage::Back(answer) => {
                let is_unread = answer["id"].is_null();
                let status = if is_unread { StatusCode::BAD_REQUEST } else { StatusCode::OK };
                return (status, Json(answer)).into_response();
            }
            Passage::Dropped(reason) => return refused(StatusCode::BAD_REQUEST, reason),
        };
        let id = message.get("id").filter(|_| message.get("method").is_some()).cloned();
        match self.upstream.post(&headers, &message).await {
            Ok(response) => self.answer(response, channel, headers, id).await,
            Err(reason) => {
                self.report.line(format_args!("the MCP server cannot be reached: {reason}"));
                let reason = "the MCP server cannot be reached";
                unanswered(&channel, id.as_ref(), StatusCode::BAD_GATEWAY, reason)
            }
        }
    }

    /// Forwards the stream of the server.
    pub(crate) async fn get(&self, headers: HeaderMap) -> Response {
        let channel = match self.channel(&headers) {
            Ok(channel) => channel,
            Err((status, reason)) => return refused(status, reason),
        };
        match self.upstream.send(Method::GET, &headers).await {
            Ok(response) if is_success(&response) && has_type(&response, "text/event-stream") => {
                self.stream(response, channel, headers, None)
            }
            Ok(response) => status_alone(&response),
            Err(reason) => {
                self.report.line(format_args!("the MCP server cannot be reached: {reason}"));
                StatusCode::BAD_GATEWAY.into_response()
            }
        }
    }

    /// Forwards the end of a session.
    pub(crate) async fn delete(&self, headers: &HeaderMap) -> Response {
        match self.upstream.send(Method::DELETE, headers).await {
            Ok(response) => {
                if let (true, Some(id)) = (is_success(&response), session(headers)) {
                    self.sessions.end(id);
                }
                status_alone(&response)
            }
            Err(reason) => {
                self.report.line(format_args!("the MCP server cannot be reached: {reason}"));
                StatusCode::BAD_GATEWAY.into_response()
            }
        }
    }

    fn channel(&self, headers: &HeaderMap) -> Result<Arc<Channel>, (StatusCode, &'static str)> {
        if headers.contains_key(SESSION) && session(headers).is_none() {
            return Err((StatusCode::BAD_REQUEST, "the id of the session cannot be read"));
        }
        let channel = self.sessions.channel(session(headers));
        channel.ok_or((StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions"))
    }

    async fn answer(
        &self,
        mut response: reqwest::Response,
        channel: Arc<Channel>,
        headers: HeaderMap,
        id: Option<Value>,
    ) -> Response {
        let began = session(response.headers()).filter(|_| is_success(&response));
        let began = began.map(str::to_owned);
        if let (Some(began), None) = (&began, session(&headers)) {
            self.sessions.begin(began, &channel);
        }
        let status = response.status();
        let mut answer = if is_success(&response) && has_type(&response, "text/event-stream") {
            self.stream(response, channel, headers, id)
        } else if id.is_none() {
            // What is no request has no answer.
            status_alone(&response)
        } else {
            match self.guarded(&mut response, &channel).await {
                Some(message) => (gateway(status), Json(message)).into_response(),
                None => {
                    let status = if status.is_success() { StatusCode::OK } else { gateway(status) };
                    let reason = "the MCP server did not answer";
                    unanswered(&channel, id.as_ref(), status, reason)
                }
            }
        };
        if let Some(began) = began.and_then(|id| HeaderValue::try_from(id).ok()) {
            answer.headers_mut().insert(SESSION, began);
        }
        answer
    }

    /// Returns the message of a body, as hooks leave it.
    async fn guarded(&self, response: &mut reqwest::Response, channel: &Channel) -> Option<Value> {
        if !has_type(response, "application/json") {
            return None;
        }
        let reason = match body(response).await {
            None => "it is longer than 32 MiB, or was cut off",
            Some(text) => match channel.of_server(&text).await {
                Passage::On(message) => return Some(message),
                Passage::Back(_) => "hooks withhold it",
                Passage::Dropped(reason) => reason,
            },
        };
        self.report.line(format_args!("a message of the MCP server is dropped: {reason}"));
        None
    }

    fn stream(
        &self,
        response: reqwest::Response,
        channel: Arc<Channel>,
        headers: HeaderMap,
        id: Option<Value>,
    ) -> Response {
        let (upstream, report) = (self.upstream.clone(), self.report.clone());
        let stream = ServerStream { response, channel, upstream, headers, id, report };
        let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
        (headers, stream.into_body()).into_response()
    }
}

/// Returns an answer that says why a request is not taken.
pub(crate) fn refused(status: StatusCode, reason: &str) -> Response {
    (status, Json(message::error(&Value::Null, NO_MESSAGE, reason))).into_response()
}

/// Returns the answer to a request that has none of the server.
fn unanswered(channel: &Channel, id: Option<&Value>, status: StatusCode, reason: &str) -> Response {
    let answer = id.and_then(|id| channel.unanswered_one(id, reason));
    let answer = answer.unwrap_or_else(|| message::error(&Value::Null, NOT_ANSWERED, reason));
    (status, Json(answer)).into_response()
}

/// Returns the status without the text, which nobody has read.
fn status_alone(response: &reqwest::Response) -> Response {
    (gateway(response.status()), Body::empty()).into_response()
}

/// Returns the status for the agent. Redirects are not followed, by nobody.
fn gateway(status: StatusCode) -> StatusCode {
    if status.is_redirection() || status.is_informational() {
        StatusCode::BAD_GATEWAY
    } else {
        status
    }
}

fn is_success(response: &reqwest::Response) -> bool {
    response.status().is_success()
}

fn has_type(response: &reqwest::Response, expected: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mime = value.and_then(|value| value.split(';').next());
    mime.is_some_and(|mime| mime.trim().eq_ignore_ascii_case(expected))
}

fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}
