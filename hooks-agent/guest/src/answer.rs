//! Answers by the contract of commands.

use std::error::Error;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::TextBlocked;
use hooks_agent_policy::command::{
    CommandEvent, HookDecision, Input, Output, PermissionDecision, SpecificOutput,
};
use hooks_core::HookError;
use serde_json::{Map, Value};

/// Creates the answer that blocks an event.
pub(super) fn block(reason: impl Into<String>) -> Output {
    let mut output = Output::default();
    output.decision = Some(HookDecision::Block);
    output.reason = Some(reason.into());
    output
}

/// Creates the answer that ends the run of the agent.
pub(super) fn end(reason: impl Into<String>) -> Output {
    ending(Output::default(), reason)
}

/// Returns the answer that also ends the run of the agent.
pub(super) fn ending(mut output: Output, reason: impl Into<String>) -> Output {
    output.continues = Some(false);
    output.stop_reason = Some(reason.into());
    output
}

/// Creates the answer that warns people, at an event that nothing can block.
pub(super) fn warn(message: impl Into<String>) -> Output {
    let mut output = Output::default();
    output.system_message = Some(message.into());
    output
}

/// Creates the answer to `PreToolUse`.
pub(super) fn permission(decision: PermissionDecision, reason: impl Into<String>) -> Output {
    let mut specific = SpecificOutput::new(CommandEvent::PreToolUse);
    specific.permission_decision = Some(decision);
    specific.permission_decision_reason = Some(reason.into());
    of(specific)
}

/// Creates the answer that changes the arguments of a tool call and decides nothing.
pub(super) fn updated_input(input: Map<String, Value>) -> Output {
    let mut specific = SpecificOutput::new(CommandEvent::PreToolUse);
    specific.updated_input = Some(input);
    of(specific)
}

/// Creates the answer that replaces the result of a tool.
pub(super) fn updated_result(result: Value) -> Output {
    let mut specific = SpecificOutput::new(CommandEvent::PostToolUse);
    specific.updated_tool_output = Some(result);
    of(specific)
}

/// Creates the answer that adds text for the model.
pub(super) fn context(event: CommandEvent, text: String) -> Output {
    let mut specific = SpecificOutput::new(event);
    specific.additional_context = Some(text);
    of(specific)
}

/// Returns the answer with the name of the event that it is for: some have two.
pub(crate) fn named(mut output: Output, input: &Input) -> Output {
    if let Some(specific) = &mut output.hook_specific_output {
        specific.hook_event_name.clone_from(&input.hook_event_name);
    }
    output
}

fn of(specific: SpecificOutput) -> Output {
    let mut output = Output::default();
    output.hook_specific_output = Some(specific);
    output
}

/// Says why hooks did not let an event pass, without the text of errors that they did not write for
/// models.
pub(super) fn reason_of(error: &AgentError) -> String {
    tracing::warn!(
        target: "hooks_agent::guest",
        error = error as &dyn Error, "a hook failed at an event of another agent"
    );
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(blocked) = error.downcast_ref::<TextBlocked>() {
            return blocked.to_string();
        }
        cause = error.source();
    }
    match error {
        AgentError::Hook(HookError::Failed { hook, .. } | HookError::TimedOut { hook, .. }) => {
            format!("hook `{hook}` could not check this call")
        }
        _ => "a hook could not check this call".to_owned(),
    }
}
