//! Why a call failed. The text of the error is content of its own: it is kept where the program allows it.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::model::ModelError;
use hooks_core::HookError;
use serde::{Deserialize, Serialize};

/// The most characters of the text of an error.
const MOST_CHARS: usize = 2_000;

/// Why a call, or an attempt to have an answer of a model, failed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) kind: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Failure {
    /// Why a call failed, whose model was asked so often in this round. The model that an error names is a part of its
    /// text.
    pub(crate) fn of_call(
        error: Option<&AgentError>,
        (attempts, model): (u32, Option<Arc<str>>),
        shows_text: bool,
    ) -> Self {
        let kind = error.map_or("other", |error| error.kind().as_str());
        let mut failure = Self { kind: kind.into(), ..Self::default() };
        match error {
            Some(AgentError::Model(error)) => {
                failure.attempts = Some(attempts);
                failure.model = model;
                failure.add_model_error(error);
            }
            Some(AgentError::Hook(
                HookError::Failed { hook, .. } | HookError::TimedOut { hook, .. },
            )) => failure.hook = Some(hook.clone()),
            _ => {}
        }
        failure.text = error.filter(|_| shows_text).map(|error| text_of(error));
        failure
    }

    /// Why an attempt failed.
    pub(crate) fn of_attempt(error: &AgentError, shows_text: bool) -> Self {
        match error {
            AgentError::Model(error) => Self::of_model(error, shows_text),
            error => {
                let text = shows_text.then(|| text_of(error));
                Self { kind: error.kind().as_str().into(), text, ..Self::default() }
            }
        }
    }

    /// Why a model failed.
    pub(crate) fn of_model(error: &ModelError, shows_text: bool) -> Self {
        let text = shows_text.then(|| text_of(error));
        let mut failure = Self { kind: kind_of(error).into(), text, ..Self::default() };
        failure.add_model_error(error);
        failure
    }

    /// Why an attempt ended whose answer nobody read to its end.
    pub(crate) fn cancelled() -> Self {
        Self { kind: "cancelled".into(), ..Self::default() }
    }

    fn add_model_error(&mut self, error: &ModelError) {
        if let ModelError::Status { status, request_id, retry_after, .. } = error {
            self.status = Some(*status);
            self.request_id.clone_from(request_id);
            let wait = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            self.retry_after_ms = wait;
        }
    }
}

fn kind_of(error: &ModelError) -> &'static str {
    match error {
        ModelError::Status { .. } => "status",
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::TooLong { .. } => "too_long",
        ModelError::Cut { .. } => "cut",
        ModelError::Empty { .. } => "empty",
        ModelError::Blocked { .. } => "blocked",
        ModelError::Failed { .. } => "failed",
        _ => "other",
    }
}

/// Returns the text of an error with its causes, cut.
fn text_of(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text.chars().take(MOST_CHARS).collect()
}
