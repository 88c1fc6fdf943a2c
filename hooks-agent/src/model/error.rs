//! Errors of models.

use std::time::Duration;

/// The error of a model.
///
/// Its text never contains a key or the request: of a provider's error it has the message, the
/// id of the request and the time to wait, and nothing else. In the message, keys are masked, and
/// so are quotes of the request of 32 bytes or more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider refused the request.
    ///
    /// [`ModelError::status`] creates it.
    #[error(
        "model `{model}` answered with status {status}{}{}{}",
        message_text(message.as_deref()),
        request_text(request_id.as_deref()),
        retry_text(*retry_after)
    )]
    #[non_exhaustive]
    Status {
        /// The name of the model.
        model: String,
        /// The HTTP status code.
        status: u16,
        /// The provider's message, on one line of at most 500 characters.
        message: Option<String>,
        /// The id that the provider gave the request.
        request_id: Option<String>,
        /// The time that the provider asks to wait before a retry.
        retry_after: Option<Duration>,
    },
    /// The provider could not be reached, or the connection broke.
    ///
    /// [`ModelError::unreachable`] creates it.
    #[error("model `{model}` cannot be reached at {endpoint}: {reason}")]
    #[non_exhaustive]
    Unreachable {
        /// The name of the model.
        model: String,
        /// The scheme, host and port of the endpoint.
        endpoint: String,
        /// The reason.
        reason: String,
    },
    /// The answer exceeds the limit of the agent. The partial answer is not used.
    #[error("the answer of model `{model}` exceeds {limit} bytes, raise `Limits::answer`")]
    TooLong {
        /// The name of the model.
        model: String,
        /// The limit, in bytes.
        limit: usize,
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
    /// The answer contains blocked text and was ended before that text, or the provider blocked
    /// the prompt and gave no answer.
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

impl ModelError {
    /// Creates the error of a request that was refused with an HTTP status.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hooks_agent::ModelError;
    ///
    /// let mut error = ModelError::status("gpt-99", 429);
    /// if let ModelError::Status { message, retry_after, .. } = &mut error {
    ///     *message = Some("Slow down.".to_owned());
    ///     *retry_after = Some(Duration::from_secs(3));
    /// }
    /// assert_eq!(
    ///     error.to_string(),
    ///     "model `gpt-99` answered with status 429: Slow down, retry after 3 s",
    /// );
    /// ```
    #[must_use]
    pub fn status(model: impl Into<String>, status: u16) -> Self {
        let model = model.into();
        Self::Status { model, status, message: None, request_id: None, retry_after: None }
    }

    /// Creates the error of a provider that could not be reached. The endpoint is printed as it is.
    #[must_use]
    pub fn unreachable(
        model: impl Into<String>,
        endpoint: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Unreachable { model: model.into(), endpoint: endpoint.into(), reason: reason.into() }
    }
}

fn message_text(message: Option<&str>) -> String {
    let sentence = message.map(|message| message.strip_suffix('.').unwrap_or(message));
    sentence.map(|sentence| format!(": {sentence}")).unwrap_or_default()
}

fn request_text(request_id: Option<&str>) -> String {
    request_id.map(|id| format!(" (request {id})")).unwrap_or_default()
}

/// Rounds up: an earlier retry would be refused.
fn retry_text(retry_after: Option<Duration>) -> String {
    let seconds = retry_after.map(|wait| wait.as_millis().div_ceil(1000));
    seconds.map(|seconds| format!(", retry after {seconds} s")).unwrap_or_default()
}
