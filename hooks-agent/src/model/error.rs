//! What can go wrong with a model.

use std::time::Duration;

/// Why a model did not answer. Its text never holds the prompt or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider refused the request.
    #[error("model `{model}` answered with status {status}{}", retry_text(*retry_after))]
    Status {
        /// The model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// How long the provider asks to wait before the next try.
        retry_after: Option<Duration>,
    },
    /// The provider could not be reached, or the connection broke.
    #[error("model `{model}` cannot be reached at {endpoint}: {reason}")]
    Unreachable {
        /// The model.
        model: String,
        /// Where it was looked for.
        endpoint: String,
        /// What went wrong.
        reason: String,
    },
    /// The stream ended before the answer was complete; what came is not an answer.
    #[error("the answer of model `{model}` was cut off")]
    Cut {
        /// The model.
        model: String,
    },
    /// The answer has neither text nor thoughts nor tool calls.
    #[error("model `{model}` gave an empty answer")]
    Empty {
        /// The model.
        model: String,
    },
    /// The answer holds what must not be said; it ended before that.
    #[error("the answer of the model was blocked: {reason}")]
    Blocked {
        /// Why, without what was blocked.
        reason: String,
    },
    /// The answer could not be understood, or the request could not be made.
    #[error("model `{model}` failed: {reason}")]
    Failed {
        /// The model.
        model: String,
        /// What went wrong.
        reason: String,
    },
}

fn retry_text(retry_after: Option<Duration>) -> String {
    retry_after.map(|wait| format!(", retry after {} s", wait.as_secs())).unwrap_or_default()
}
