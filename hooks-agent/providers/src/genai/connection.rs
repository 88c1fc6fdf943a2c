//! The connection to a provider, and its errors.

use std::sync::OnceLock;

use genai::Client;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::text::without_full_stop;

use crate::genai::client::ClientOptions;
use crate::genai::endpoint::Endpoint;
use crate::genai::provider::Provider;
use crate::genai::redact::{without_keys, without_likely_keys, without_quotes};
use crate::genai::report::Report;
use crate::http::reason_of;
use hooks_agent_core::message::Messages;

const REDIRECT: &str = "the server redirects to another place; set the URL of the API itself";

/// The connection to a provider.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) provider: Provider,
    pub(super) endpoint: Endpoint,
    pub(super) key: String,
    pub(super) model: String,
    /// Whether thoughts without a signature are sent back with tool calls.
    pub(super) resends_thoughts: bool,
    pub(super) options: ClientOptions,
    /// The client of all requests, built at the first one from what is above.
    pub(super) client: OnceLock<Client>,
}

impl Connection {
    /// Converts an error, without the texts of the request that it may quote.
    pub(super) fn explain(&self, error: &genai::Error, asked: &Messages) -> ModelError {
        match error {
            genai::Error::HttpError { status, headers, body, .. } => {
                self.refused(status.as_u16(), &Report::of_response(headers, body), asked)
            }
            genai::Error::WebStream { error, .. } => {
                if let Some(error) = error.downcast_ref::<genai::Error>() {
                    return self.explain(error, asked);
                }
                match error.downcast_ref::<reqwest::Error>() {
                    Some(error) if error.is_timeout() => self.broken(error),
                    Some(error) if error.is_body() || error.is_decode() => self.cut(),
                    Some(error) => self.broken(error),
                    None => self.failed("the stream broke"),
                }
            }
            genai::Error::WebModelCall { .. } | genai::Error::ClientBuildFail { .. } => {
                self.failed("the request could not be sent")
            }
            // Its body was read from the raw frame; this one has none that can be read.
            genai::Error::ChatResponse { .. } => self.reported(&Report::default(), asked),
            genai::Error::StreamParse { serde_error, .. } if serde_error.is_eof() => self.cut(),
            genai::Error::StreamParse { .. } => self.failed("the stream is not the JSON expected"),
            _ => self.failed("the request or the answer does not fit the provider's API"),
        }
    }

    fn refused(&self, status: u16, report: &Report, asked: &Messages) -> ModelError {
        let message = match (status, self.message(report, asked)) {
            (300..=399, _) => Some(REDIRECT.to_owned()),
            (404, Some(message)) => {
                Some(format!("{}; {}", without_full_stop(&message), self.question()))
            }
            (404, None) => Some(self.question()),
            (_, message) => message,
        };
        let mut error = ModelError::status(&self.model, status);
        if let ModelError::Status { message: said, request_id, retry_after, .. } = &mut error {
            *said = message;
            *request_id = self.request_id(report);
            *retry_after = report.retry_after;
        }
        error
    }

    pub(super) fn reported(&self, report: &Report, asked: &Messages) -> ModelError {
        let mut reason = "the provider reported an error in its stream".to_owned();
        if let Some(message) = self.message(report, asked) {
            reason = format!("{reason}: {message}");
        }
        if let Some(id) = self.request_id(report) {
            reason = format!("{reason} (request {id})");
        }
        self.failed(reason)
    }

    pub(super) fn blocked(&self, reason: &str) -> ModelError {
        let is_word = reason.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let reason = if is_word { reason } else { "OTHER" };
        ModelError::blocked(format!("the provider blocked the prompt ({reason})"))
    }

    fn message(&self, report: &Report, asked: &Messages) -> Option<String> {
        let message = report.message(|text| without_likely_keys(&self.without_own_keys(text)))?;
        Some(without_quotes(&message, asked))
    }

    /// An id looks like a key.
    fn request_id(&self, report: &Report) -> Option<String> {
        report.request_id.as_ref().map(|id| self.without_own_keys(id))
    }

    fn without_own_keys(&self, text: &str) -> String {
        let password = self.endpoint.password().unwrap_or_default();
        let mut keys = vec![self.key.as_str(), &password];
        let secrets: Vec<_> = self.options.secrets().collect();
        keys.extend(secrets.iter().map(String::as_str));
        without_keys(text, &keys)
    }

    pub(super) fn cut(&self) -> ModelError {
        ModelError::Cut { model: self.model.clone() }
    }

    /// Returns the error of a body that is not a stream of the API.
    pub(super) fn foreign(&self) -> ModelError {
        let found = "the server answered with something else than the API's stream";
        self.failed(format!("{found}, {}", self.question()))
    }

    /// Asks for the URL, without a part of it.
    fn question(&self) -> String {
        format!("is the URL right? `{}` is appended to it", self.provider.path())
    }

    pub(super) fn unreachable(&self, reason: impl Into<String>) -> ModelError {
        ModelError::unreachable(&self.model, self.endpoint.to_string(), reason)
    }

    pub(super) fn broken(&self, error: &reqwest::Error) -> ModelError {
        let broken = self.unreachable(self.options.failure(error, reason_of(error)));
        if error.is_connect() || error.is_builder() { broken.unsent() } else { broken }
    }

    pub(super) fn failed(&self, reason: impl Into<String>) -> ModelError {
        ModelError::Failed { model: self.model.clone(), reason: reason.into() }
    }
}
