//! Codes and texts of errors, for clients.

use hooks_agent_core::error::{AgentError, ErrorKind};
use hooks_agent_core::model::ModelError;
use hooks_core::HookError;

/// Returns the code of an error.
pub(super) fn code_of(error: &AgentError) -> &'static str {
    match error {
        AgentError::Model(ModelError::Status { .. }) => "model_status",
        AgentError::Model(ModelError::Unreachable { .. }) => "model_unreachable",
        AgentError::Model(ModelError::Cut { .. }) => "model_cut",
        AgentError::Model(ModelError::Blocked { .. }) => "model_blocked",
        error => match error.kind() {
            ErrorKind::Hook => "hook",
            ErrorKind::Input => "input",
            ErrorKind::TooManyJumps => "too_many_jumps",
            ErrorKind::CallsItself => "calls_itself",
            ErrorKind::Panicked => "panicked",
            _ => "internal",
        },
    }
}

/// Returns the text of an error, without its causes: those may have what hooks removed. Errors of stores,
/// of agents of your own and such that name a thread have a text that says nothing.
pub(super) fn message_of(error: &AgentError) -> String {
    match error {
        AgentError::Model(error) => error.to_string(),
        AgentError::Input(error) => error.to_string(),
        AgentError::TooManyJumps { .. } => error.to_string(),
        AgentError::CallsItself { .. } => "the agent called itself".to_owned(),
        // Its text has that of its cause.
        AgentError::Hook(HookError::Failed { hook, .. }) => format!("hook `{hook}` failed"),
        AgentError::Hook(HookError::TimedOut { hook, .. }) => format!("hook `{hook}` timed out"),
        AgentError::Hook(_) => "a hook failed".to_owned(),
        _ => "the call failed".to_owned(),
    }
}
