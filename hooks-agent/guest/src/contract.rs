//! The answers of a guard by the contract of commands.

use hooks_agent_policy::command::{
    CommandEvent, HookDecision, Input, Output, PermissionDecision, SpecificOutput,
};
use serde_json::Value;

use crate::decided::Decided;

/// Returns the answer to an event.
pub(crate) fn output(decided: Decided, input: &Input) -> Output {
    let event = input.hook_event_name.as_str();
    let mut output = Output::default();
    match decided {
        Decided::Passes => {}
        Decided::Adds(text) => {
            let mut specific = SpecificOutput::new(event);
            specific.additional_context = Some(text);
            output.hook_specific_output = Some(specific);
        }
        Decided::Warns(text) => output.system_message = Some(text),
        Decided::Blocks(reason) | Decided::GoesOn(reason) => block(&mut output, reason),
        Decided::Denies(reason) => permission(&mut output, event, PermissionDecision::Deny, reason),
        Decided::Asks(reason) => permission(&mut output, event, PermissionDecision::Ask, reason),
        Decided::Rewrites(arguments) => {
            let mut specific = SpecificOutput::new(event);
            specific.updated_input = Some(arguments);
            output.hook_specific_output = Some(specific);
        }
        Decided::Replaces(result) => replace(&mut output, event, result),
        Decided::Withholds(reason) => {
            replace(&mut output, event, withheld(&reason).into());
            block(&mut output, reason);
        }
        Decided::Ends(reason, result) => {
            if let Some(result) = result {
                replace(&mut output, event, result);
            }
            // Some agents run the tool first, and end then.
            if is_before_tool(input) {
                permission(&mut output, event, PermissionDecision::Deny, reason.clone());
            }
            output.continues = Some(false);
            output.stop_reason = Some(reason);
        }
    }
    output
}

/// Returns what the model reads in place of a result.
pub(crate) fn withheld(reason: &str) -> String {
    format!("[withheld: {reason}]")
}

fn is_before_tool(input: &Input) -> bool {
    use hooks_agent_core::event::EventKind::PreActing;
    matches!(
        input.hook_event_name.parse(),
        Ok(CommandEvent::PreToolUse | CommandEvent::Own(PreActing))
    )
}

fn block(output: &mut Output, reason: String) {
    output.decision = Some(HookDecision::Block);
    output.reason = Some(reason);
}

fn permission(output: &mut Output, event: &str, decision: PermissionDecision, reason: String) {
    let mut specific = SpecificOutput::new(event);
    specific.permission_decision = Some(decision);
    specific.permission_decision_reason = Some(reason);
    output.hook_specific_output = Some(specific);
}

fn replace(output: &mut Output, event: &str, result: Value) {
    let mut specific = SpecificOutput::new(event);
    specific.updated_tool_output = Some(result);
    output.hook_specific_output = Some(specific);
}
