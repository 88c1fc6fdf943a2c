//! The answers.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use hooks_agent_core::store::StoreError;
use serde_json::json;

/// Answers with JSON.
pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    typed(status, "application/json", body)
}

/// Answers with a body of this type.
pub(super) fn typed(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Answers with an error: a code for programs and a sentence for people.
pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    json(status, json!({ "error": code, "message": message }).to_string())
}

pub(super) fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "not_found", "there is nothing at this address")
}

/// Answers a request whose values do not fit.
pub(super) fn invalid(message: &str) -> Response {
    error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
}

/// Answers a request of nobody that is to change something.
pub(super) fn nobody() -> Response {
    let message = "nobody is signed in who could decide or write here";
    error(StatusCode::FORBIDDEN, "signed_out", message)
}

pub(super) fn store_failed(failed: &StoreError) -> Response {
    tracing::warn!(
        target: "hooks_agent::studio",
        error = failed as &dyn std::error::Error, "the store of an agent failed"
    );
    error(StatusCode::SERVICE_UNAVAILABLE, "store", "the store of an agent failed")
}
