//! Outcomes of calls, models and tools, as texts without content.

use std::borrow::Cow;
use std::error::Error;

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::error::{AgentError, ErrorKind};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::{FinishReason, ModelError};
use hooks_agent_core::tool::ToolError;
use hooks_core::HookError;

use crate::names::OTHER;

/// The value of `error.type`.
pub(super) type ErrorType = Cow<'static, str>;

pub(super) const PANIC: ErrorType = Cow::Borrowed("panic");
pub(super) const MODEL_CUT: ErrorType = Cow::Borrowed("model_cut");
pub(super) const TOOL_FAILED: ErrorType = Cow::Borrowed("tool_failed");

/// Returns the type of the error of a call or of a model. An interrupt is no error.
pub(super) fn agent_error(error: &AgentError) -> Option<ErrorType> {
    Some(match error {
        AgentError::Model(error) => model_error(error),
        AgentError::Hook(_) => "hook".into(),
        AgentError::Interrupted => return None,
        AgentError::Recorded(report) if report.kind() == ErrorKind::Hook => "hook".into(),
        _ => OTHER.into(),
    })
}

/// Returns the name of the hook that failed, if the error is that of a hook.
pub(super) fn failed_hook<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e str> {
    let of_agent = error.downcast_ref::<AgentError>();
    let of_tool = error.downcast_ref::<ToolError>();
    match (of_agent, of_tool) {
        (Some(AgentError::Hook(error)), _) | (_, Some(ToolError::Hook(error))) => match error {
            HookError::Failed { hook, .. } | HookError::TimedOut { hook, .. } => Some(hook),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn model_error(error: &ModelError) -> ErrorType {
    match error {
        ModelError::Status { status, .. } => status.to_string().into(),
        ModelError::Unreachable { .. } => "model_unreachable".into(),
        ModelError::Cut { .. } => MODEL_CUT,
        ModelError::Empty { .. } => "model_empty".into(),
        ModelError::Blocked { .. } => "model_blocked".into(),
        _ => OTHER.into(),
    }
}

/// Returns the type of the error of a tool. A tool that waits for people or is interrupted has none.
pub(super) fn tool_error(error: &ToolError) -> Option<ErrorType> {
    if !error.is_failure() {
        return None;
    }
    Some(match error {
        ToolError::Failed(_) => TOOL_FAILED,
        ToolError::Panicked { .. } => "tool_panicked".into(),
        ToolError::TimedOut { .. } => "tool_timeout".into(),
        ToolError::Unknown { .. } => "tool_unknown".into(),
        ToolError::InvalidInput { .. } => "tool_invalid_input".into(),
        ToolError::Hook(_) => "hook".into(),
        ToolError::Recorded(report) if report.kind() == ErrorKind::Hook => "hook".into(),
        _ => OTHER.into(),
    })
}

/// Returns how the call ended, and its reason.
pub(super) fn outcome(outcome: &CallOutcome) -> (&'static str, Option<&'static str>) {
    let ended = match outcome {
        CallOutcome::Finished(ended) => ended.map(GenerateReason::name),
        _ => None,
    };
    (outcome.name(), ended)
}

/// Returns why a model ended its answer. Models report a stop for answers that call tools, too.
pub(super) fn finish(finish: FinishReason, has_tool_calls: bool) -> &'static str {
    match finish {
        FinishReason::Stop | FinishReason::Other if has_tool_calls => "tool_call",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        _ => "other",
    }
}
