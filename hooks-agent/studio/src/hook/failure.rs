//! Why a call failed, without content.

use hooks_agent_core::error::AgentError;
use hooks_agent_core::model::ModelError;
use hooks_core::HookError;
use serde::Serialize;

/// Why a call failed, without content: its kind, and what tells it from others of the kind.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Failure {
    pub(super) kind: &'static str,
    /// The status with which the model answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// How often the model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    /// The hook that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<String>,
}

impl Failure {
    pub(super) fn of(error: Option<&AgentError>, attempts: u32) -> Self {
        let kind = error.map_or("other", |error| error.kind().as_str());
        let mut failure = Self { kind, status: None, attempts: None, hook: None };
        match error {
            Some(AgentError::Model(error)) => {
                failure.attempts = Some(attempts);
                if let ModelError::Status { status, .. } = error {
                    failure.status = Some(*status);
                }
            }
            Some(AgentError::Hook(
                HookError::Failed { hook, .. } | HookError::TimedOut { hook, .. },
            )) => failure.hook = Some(hook.clone()),
            _ => {}
        }
        failure
    }
}
