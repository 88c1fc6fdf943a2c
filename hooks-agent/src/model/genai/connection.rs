//! The connection to a provider, and its errors.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::model::ModelError;
use crate::model::genai::endpoint::Endpoint;
use crate::model::genai::provider::Provider;

/// The connection to a provider.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) provider: Provider,
    pub(super) endpoint: Endpoint,
    pub(super) key: String,
    pub(super) model: String,
}

impl Connection {
    /// Converts an error, without the texts that it may quote.
    pub(super) fn explain(&self, error: &genai::Error) -> ModelError {
        let model = self.model.clone();
        if let Some(status) = error.status() {
            let retry_after = error.headers().and_then(retry_after);
            return ModelError::Status { model, status: status.as_u16(), retry_after };
        }
        match error {
            genai::Error::WebStream { error, .. } => {
                if let Some(error) = error.downcast_ref::<genai::Error>() {
                    return self.explain(error);
                }
                match error.downcast_ref::<reqwest::Error>() {
                    Some(error) if error.is_body() || error.is_decode() => self.cut(),
                    Some(error) => self.broken(error),
                    None => self.failed("the stream broke"),
                }
            }
            genai::Error::WebModelCall { .. } | genai::Error::ClientBuildFail { .. } => {
                self.failed("the request could not be sent")
            }
            genai::Error::ChatResponse { .. } => self.failed(ERROR_IN_STREAM),
            genai::Error::StreamParse { serde_error, .. } if serde_error.is_eof() => self.cut(),
            genai::Error::StreamParse { .. } => self.failed("the stream is not the JSON expected"),
            _ => self.failed("the request or the answer does not fit the provider's API"),
        }
    }

    pub(super) fn reported(&self) -> ModelError {
        self.failed(ERROR_IN_STREAM)
    }

    pub(super) fn cut(&self) -> ModelError {
        ModelError::Cut { model: self.model.clone() }
    }

    pub(super) fn unreachable(&self, reason: impl Into<String>) -> ModelError {
        ModelError::Unreachable {
            model: self.model.clone(),
            endpoint: self.endpoint.to_string(),
            reason: reason.into(),
        }
    }

    pub(super) fn broken(&self, error: &reqwest::Error) -> ModelError {
        self.unreachable(root(error).map_or_else(|| kind(error).to_owned(), ToString::to_string))
    }

    pub(super) fn failed(&self, reason: &str) -> ModelError {
        ModelError::Failed { model: self.model.clone(), reason: reason.to_owned() }
    }
}

const ERROR_IN_STREAM: &str = "the provider reported an error in its stream";

/// Returns the innermost cause, which describes the failure. None if it is an error of the client
/// itself, which quotes the URL.
fn root(error: &reqwest::Error) -> Option<&(dyn Error + 'static)> {
    let mut root = error.source()?;
    while let Some(cause) = root.source() {
        root = cause;
    }
    (!root.is::<reqwest::Error>()).then_some(root)
}

fn kind(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "the request timed out"
    } else if error.is_connect() {
        "the connection failed"
    } else {
        "the request failed"
    }
}

/// Reads seconds only: a date would need a clock that agrees with the provider's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}
