//! Errors of models.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::BoxError;
use serde::{Deserialize, Serialize};

use crate::report::shared_cause;
use crate::text::without_full_stop;
use crate::usage::Usage;

/// The error of a model.
///
/// Its text never contains a key or the request: of a provider's error it has the message, the
/// id of the request and the time to wait, and nothing else. In the message, keys are masked, and
/// so are quotes of the request of 32 bytes or more.
///
/// In JSON, `type` is the variant in snake case; the fields of the variant are beside it. The cause
/// of [`Other`](Self::Other) is the list of the texts of its chain of sources: read again, it has
/// these texts, and another type.
///
/// ```
/// use hooks_agent::model::ModelError;
/// use serde_json::json;
///
/// let error = ModelError::Cut { model: "gpt-99".to_owned() };
/// assert_eq!(serde_json::to_value(&error)?, json!({ "type": "cut", "model": "gpt-99" }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "type", rename_all = "snake_case")]
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
        /// The provider's message, on one line of at most 500 characters. With status 404, a
        /// question about the URL follows it; with that of a redirect, the remedy replaces it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The id that the provider gave the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// The time that the provider asks to wait before a retry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<Duration>,
    },
    /// The provider could not be reached, or the connection broke.
    ///
    /// [`ModelError::unreachable`] creates it, and [`ModelError::unsent`] says that nothing was sent.
    #[error("model `{model}` cannot be reached at {endpoint}: {reason}")]
    #[non_exhaustive]
    Unreachable {
        /// The name of the model.
        model: String,
        /// The scheme, host and port of the endpoint.
        endpoint: String,
        /// The reason.
        reason: String,
        /// Whether nothing of the request was sent, because there was no connection: it has used nothing.
        #[serde(default, skip_serializing_if = "is_false")]
        is_unsent: bool,
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
    ///
    /// [`ModelError::empty`] creates it.
    #[error("model `{model}` gave an empty answer")]
    #[non_exhaustive]
    Empty {
        /// The name of the model.
        model: String,
        /// What the provider reported: such an answer is paid for, too.
        #[serde(default, skip_serializing_if = "is_default")]
        usage: Usage,
    },
    /// The answer contains blocked text and was ended before that text, or the provider blocked
    /// the prompt and gave no answer.
    ///
    /// [`ModelError::blocked`] and [`ModelError::blocked_by`] create it.
    #[error("the answer of the model was blocked: {reason}")]
    #[non_exhaustive]
    Blocked {
        /// The reason, without the blocked text.
        reason: String,
        /// What blocked it, if it is an error of its own.
        #[serde(skip)]
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// The answer could not be parsed or is no stream of the provider's API, or the request could
    /// not be created.
    #[error("model `{model}` failed: {reason}")]
    Failed {
        /// The name of the model.
        model: String,
        /// The reason.
        reason: String,
    },
    /// A model of your own failed.
    ///
    /// [`ModelError::other`] creates it.
    #[error("model `{model}` failed")]
    #[non_exhaustive]
    Other {
        /// The name of the model.
        model: String,
        /// The cause.
        #[serde(with = "shared_cause")]
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl ModelError {
    /// Creates the error of a model of your own, with its cause.
    #[must_use]
    pub fn other(model: impl Into<String>, cause: impl Into<BoxError>) -> Self {
        Self::Other { model: model.into(), source: cause.into().into() }
    }

    /// Creates the error of an answer that is blocked, for a reason without the blocked text.
    #[must_use]
    pub fn blocked(reason: impl Into<String>) -> Self {
        Self::Blocked { reason: reason.into(), source: None }
    }

    /// Creates the error of an answer that another error blocks, whose text has nothing of the blocked text.
    #[must_use]
    pub fn blocked_by(cause: impl Into<BoxError>) -> Self {
        let cause = cause.into();
        Self::Blocked { reason: cause.to_string(), source: Some(cause.into()) }
    }

    /// Returns whether the same request may succeed later: the provider is busy or cannot be reached, or
    /// the answer broke off. An error of your own is not transient.
    ///
    /// ```
    /// use hooks_agent::model::ModelError;
    ///
    /// assert!(ModelError::status("gpt-99", 429).is_transient());
    /// assert!(!ModelError::status("gpt-99", 401).is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            Self::Unreachable { .. } | Self::Cut { .. } | Self::Empty { .. } => true,
            _ => false,
        }
    }

    /// Creates the error of a request that was refused with an HTTP status.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hooks_agent::model::ModelError;
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
        let (model, endpoint, reason) = (model.into(), endpoint.into(), reason.into());
        Self::Unreachable { model, endpoint, reason, is_unsent: false }
    }

    /// Says of an unreachable provider that nothing of the request was sent. Other errors stay as they are.
    ///
    /// ```
    /// use hooks_agent::model::ModelError;
    ///
    /// let error = ModelError::unreachable("gpt-99", "https://example.com", "no such host").unsent();
    /// assert!(matches!(error, ModelError::Unreachable { is_unsent: true, .. }));
    /// ```
    #[must_use]
    pub fn unsent(mut self) -> Self {
        if let Self::Unreachable { is_unsent, .. } = &mut self {
            *is_unsent = true;
        }
        self
    }

    /// Creates the error of an answer without content, with what the provider reported of it.
    #[must_use]
    pub fn empty(model: impl Into<String>, usage: Usage) -> Self {
        Self::Empty { model: model.into(), usage }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn is_default(usage: &Usage) -> bool {
    *usage == Usage::default()
}

fn message_text(message: Option<&str>) -> String {
    message.map(|message| format!(": {}", without_full_stop(message))).unwrap_or_default()
}

fn request_text(request_id: Option<&str>) -> String {
    request_id.map(|id| format!(" (request {id})")).unwrap_or_default()
}

/// Rounds up: an earlier retry would be refused.
fn retry_text(retry_after: Option<Duration>) -> String {
    let seconds = retry_after.map(|wait| wait.as_millis().div_ceil(1000));
    seconds.map(|seconds| format!(", retry after {seconds} s")).unwrap_or_default()
}
