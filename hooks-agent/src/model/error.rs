//! Errors of models.

use std::time::Duration;

/// The error of a model. Its text never contains the prompt or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider refused the request.
    #[error("model `{model}` answered with status {status}{}", retry_text(*retry_after))]
    Status {
        /// The name of the model.
        model: String,
        /// The HTTP status code.
        status: u16,
        /// The time that the provider asks to wait before a retry.
        retry_after: Option<Duration>,
    },
    /// The provider could not be reached, or the connection broke.
    #[error("model `{model}` cannot be reached at {endpoint}: {reason}")]
    Unreachable {
        /// The name of the model.
        model: String,
        /// The scheme, host and port of the endpoint.
        endpoint: String,
        /// The reason.
        reason: String,
    },
    /// The stream ended before the answer was complete. The partial answer is not used.
    #[error("the answer of model `{model}` was cut off")]
    Cut {
        /// The name of the model.
        model: String,
    },
    /// The answer has neither text nor thoughts nor tool calls.
    #[error("model `{model}` gave an empty answer")]
    Empty {
        /// The name of the model.
        model: String,
    },
    /// The answer contains blocked text, and was ended before that text.
    #[error("the answer of the model was blocked: {reason}")]
    Blocked {
        /// The reason, without the blocked text.
        reason: String,
    },
    /// The answer could not be parsed, or the request could not be created.
    #[error("model `{model}` failed: {reason}")]
    Failed {
        /// The name of the model.
        model: String,
        /// The reason.
        reason: String,
    },
}

fn retry_text(retry_after: Option<Duration>) -> String {
    retry_after.map(|wait| format!(", retry after {} s", wait.as_secs())).unwrap_or_default()
}
