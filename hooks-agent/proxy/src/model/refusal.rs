//! Refusals, in the form of the provider.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::model::guarded::Refused;

/// A form of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// `POST /v1/chat/completions` of `OpenAI`.
    Chat,
    /// `POST /v1/responses` of `OpenAI`.
    Responses,
    /// `POST /v1/messages` of Anthropic.
    Messages,
}

/// Why a request has no answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// A request that hooks block.
    pub(crate) fn blocked(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let reason = if reason.trim().is_empty() { "a hook blocked it".to_owned() } else { reason };
        Self::new(StatusCode::BAD_REQUEST, "blocked_by_policy", reason)
    }

    /// A request that cannot be guarded.
    pub(crate) fn unread(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "not_guarded", reason)
    }

    /// A request that goes on with a response that is not known.
    pub(crate) fn unknown_response() -> Self {
        let message = "the proxy does not know the previous response: send the whole conversation";
        Self::new(StatusCode::BAD_REQUEST, "previous_response_not_found", message)
    }

    /// A path that is not passed on.
    pub(crate) fn not_served() -> Self {
        let message = "the proxy does not pass this request on: it knows no guard for it";
        Self::new(StatusCode::NOT_FOUND, "not_served", message)
    }

    /// A body of too many bytes.
    pub(crate) fn too_large() -> Self {
        let message = "the request has more than 32 MiB";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// A body that does not arrive.
    pub(crate) fn too_slow() -> Self {
        let message = "the request took more than 30 seconds to arrive";
        Self::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
    }

    /// Too many requests at once.
    pub(crate) fn busy() -> Self {
        let message = "the proxy has too many requests at once";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// A body that is not said to be JSON.
    pub(crate) fn not_json() -> Self {
        let message = "`Content-Type` is not `application/json`";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message)
    }

    /// An upstream that cannot be reached, or breaks off.
    pub(crate) fn unreachable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "upstream_failed", message)
    }

    /// An upstream that takes too long.
    pub(crate) fn timed_out() -> Self {
        let message = "the upstream did not answer in time";
        Self::new(StatusCode::GATEWAY_TIMEOUT, "upstream_timed_out", message)
    }

    /// Returns the refusal as a response.
    pub(crate) fn response(&self, form: Form) -> Response {
        (self.status, Json(self.body(form))).into_response()
    }

    fn body(&self, form: Form) -> Value {
        let is_caller = self.status.is_client_error();
        match form {
            Form::Chat | Form::Responses => {
                let kind = if is_caller { "invalid_request_error" } else { "server_error" };
                json!({ "error": {
                    "message": self.message, "type": kind, "param": null, "code": self.code,
                } })
            }
            Form::Messages => {
                let kind = match self.status {
                    StatusCode::NOT_FOUND => "not_found_error",
                    StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
                    _ if is_caller => "invalid_request_error",
                    _ => "api_error",
                };
                json!({ "type": "error", "error": { "type": kind, "message": self.message } })
            }
        }
    }
}

impl From<Refused> for Refusal {
    fn from(Refused(reason): Refused) -> Self {
        Self::blocked(reason)
    }
}
