//! A tool call that the agent is about to make.

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{
    GenerateReason, Messages, Msg, PendingReason, ToolResult, ToolUse,
};
use hooks_agent_core::model::{ScriptedAnswer, ScriptedModel};
use hooks_agent_policy::command::{Input, Output, PermissionDecision};
use hooks_core::HookRole;
use serde_json::{Map, Value};

use crate::answer::{end, permission, reason_of, updated_input};
use crate::event::{Event, Scope};
use crate::seam::{Outcome, Seam};

const EVENTS: EventMask =
    EventMask::of(&[EventKind::PostReasoning, EventKind::PreActing, EventKind::Settled]);

/// Runs the tool call up to where the tool would run.
pub(super) async fn asked(mut event: Event<'_>) -> Output {
    let Some(call) = tool_use(event.input) else {
        return permission(PermissionDecision::Deny, "the tool call has no name");
    };
    let asked = call.clone();
    let seam = Seam::new(Outcome::Waits);
    // Limits of model calls have no calls to count here.
    let around = |role| match role {
        Some(HookRole::Limits) => AroundMask::TOOL_CALL | AroundMask::PERMISSION_CHECK,
        Some(HookRole::Retries) => AroundMask::NONE,
        _ => AroundMask::of(&[
            AroundMask::MODEL_CALL,
            AroundMask::TOOL_CALL,
            AroundMask::PERMISSION_CHECK,
        ]),
    };
    let scope = Scope { events: EVENTS, around };
    let model = saying(call);
    let (reply, messages) = event.call(model, scope, Some(seam.clone()), Messages::new()).await;
    match reply {
        Err(error) => permission(PermissionDecision::Deny, reason_of(&error)),
        Ok(reply) => decided(&asked, seam.reached(), &reply, &messages),
    }
}

/// Returns the answer for a tool call: whether it reached its tool, or what kept it.
fn decided(asked: &ToolUse, reached: Option<ToolUse>, reply: &Msg, messages: &Messages) -> Output {
    let result = messages.iter().flat_map(Msg::tool_results).last();
    match (reached, reply.reason, result) {
        (Some(reached), ..) => passed(asked, reached),
        (None, Some(GenerateReason::LimitReached | GenerateReason::HookEnded), result) => {
            let refused = result.map(|result| result.output.to_string());
            end(refused.unwrap_or_else(|| reply.text()))
        }
        (None, _, Some(result)) => permission(PermissionDecision::Deny, refusal(result)),
        (None, _, None) => match reply.pending().first() {
            Some(pending) => {
                let reason = match &pending.why {
                    PendingReason::Permission(why) if !why.is_empty() => why.clone(),
                    _ => match (&pending.question, &pending.asked_by) {
                        (Some(question), _) => question.description.clone(),
                        (None, Some(hook)) => format!("hook `{hook}` asks for approval"),
                        (None, None) => "the policy asks for approval".to_owned(),
                    },
                };
                permission(PermissionDecision::Ask, reason)
            }
            None => permission(PermissionDecision::Deny, "no hook could check this call"),
        },
    }
}

/// Answers for a tool call that all hooks let through, with its arguments if they changed.
fn passed(asked: &ToolUse, reached: ToolUse) -> Output {
    let reached = reached.without_hidden();
    if reached.name != asked.name || reached.invalid_input.is_some() {
        return permission(PermissionDecision::Deny, "a hook made another tool call of it");
    }
    match reached.input {
        input if input == asked.input => Output::default(),
        Value::Object(input) => updated_input(input),
        _ => permission(PermissionDecision::Deny, "a hook made arguments that are no object"),
    }
}

fn refusal(result: &ToolResult) -> String {
    if result.is_error {
        result.output.to_string()
    } else {
        // The agent takes no result here.
        format!("a hook answers in place of the tool: {}", result.output)
    }
}

/// Returns the tool call of an event.
pub(super) fn tool_use(input: &Input) -> Option<ToolUse> {
    let name = input.tool_name.as_deref().filter(|name| !name.is_empty())?;
    let id = input.tool_use_id.as_deref().filter(|id| !id.is_empty()).unwrap_or("tool");
    let arguments = input.tool_input.clone().unwrap_or_else(|| Map::new().into());
    Some(ToolUse::new(id, name, arguments))
}

/// Creates a model that makes this tool call, and then is done.
pub(super) fn saying(call: ToolUse) -> ScriptedModel {
    ScriptedModel::new("none", move |request| -> ScriptedAnswer {
        let is_answered = request.messages.iter().any(|msg| msg.tool_results().next().is_some());
        if is_answered { "-".into() } else { call.clone().into() }
    })
}
