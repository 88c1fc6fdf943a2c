//! A tool call that the agent is about to make.

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{
    GenerateReason, Messages, Msg, PendingReason, ToolResult, ToolUse,
};
use hooks_agent_core::model::{ScriptedAnswer, ScriptedModel};
use hooks_agent_policy::command::Input;
use hooks_core::HookRole;
use serde_json::{Map, Value};

use crate::decided::{Decided, reason_of};
use crate::event::{Begun, Event, Scope, approvers_of};
use crate::seam::{Outcome, Seam};

const EVENTS: EventMask =
    EventMask::of(&[EventKind::PostReasoning, EventKind::PreActing, EventKind::Settled]);

/// Runs the tool call up to where the tool would run.
pub(super) async fn asked(mut event: Event<'_>) -> Decided {
    let Some(call) = tool_use(event.input) else {
        return Decided::Denies("the tool call has no name".to_owned());
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
    let begun = event.begin(model, scope, Some(seam.clone()), Messages::new()).await;
    let mut begun = match begun {
        Ok(begun) => begun,
        Err(error) => return Decided::Denies(reason_of(&error)),
    };
    let first = decided_by(&asked, &seam, &begun);
    let Decided::Asks(question) = first else { return first };
    // The agent asks its user, and no event comes after that: what would refuse the call then refuses it now.
    begun.approved(&seam).await;
    match decided_by(&asked, &seam, &begun) {
        Decided::Passes => Decided::Asks(question),
        Decided::Rewrites(_) => Decided::Denies(format!(
            "{question}\n\nAnother hook changes the arguments of this call, and an agent takes one of both: leave out \
             what it removes."
        )),
        // A hook that stops the call does so again, whatever people say.
        Decided::Asks(_) if begun.is_stopped() => Decided::Asks(question),
        Decided::Asks(_) => Decided::Denies(format!("{question}\n\nIt is asked again and again.")),
        refused => refused,
    }
}

fn decided_by(asked: &ToolUse, seam: &Seam, begun: &Begun) -> Decided {
    match &begun.reply {
        Err(error) => Decided::Denies(reason_of(error)),
        Ok(reply) => decided(asked, seam.reached(), reply, &begun.memory.messages()),
    }
}

/// Returns the answer for a tool call: whether it reached its tool, or what kept it.
fn decided(asked: &ToolUse, reached: Option<ToolUse>, reply: &Msg, messages: &Messages) -> Decided {
    let result = messages.iter().flat_map(Msg::tool_results).last();
    match (reached, reply.reason, result) {
        (Some(reached), ..) => passed(asked, reached),
        (None, Some(GenerateReason::LimitReached | GenerateReason::HookEnded), result) => {
            let refused = result.map(|result| result.output.to_string());
            Decided::ends(refused.unwrap_or_else(|| reply.text()))
        }
        (None, _, Some(result)) => Decided::Denies(refusal(result)),
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
                match approvers_of(pending) {
                    None => Decided::Asks(reason),
                    Some(who) => Decided::Denies(format!(
                        "{reason}\n\nOnly {who} may answer this, and a coding agent does not say who its user is."
                    )),
                }
            }
            None => Decided::Denies("no hook could check this call".to_owned()),
        },
    }
}

/// Answers for a tool call that all hooks let through, with its arguments if they changed.
fn passed(asked: &ToolUse, reached: ToolUse) -> Decided {
    let reached = reached.without_hidden();
    if reached.name != asked.name || reached.invalid_input.is_some() {
        return Decided::Denies("a hook made another tool call of it".to_owned());
    }
    match reached.input {
        input if input == asked.input => Decided::Passes,
        Value::Object(input) => Decided::Rewrites(input),
        _ => Decided::Denies("a hook made arguments that are no object".to_owned()),
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
