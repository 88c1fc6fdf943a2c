//! Decisions of people about the tool calls that wait.

use serde_json::Value;

use crate::call::{CallContext, Door};
use crate::error::TextBlocked;
use crate::memory::{Confirmed, Memory};
use crate::message::{ApprovedBy, Asker, PendingCall, ToolOutput, ToolResult, ToolUse, Wording};
use crate::store::{Decision, Waiting};

/// What the model reads in place of a tool call that differs from the one that was shown.
pub(in crate::react) const CHANGED: &str =
    "the call was changed after it was shown for approval, so it did not run";

/// What the model reads in place of a tool call whose tool differs from the one that was shown.
pub(super) const OTHER_TOOL: &str =
    "the tool was changed after the call was shown for approval, so it did not run";

/// The result of a tool call whose process ended while the tool ran.
pub(super) const UNKNOWN_OUTCOME: &str =
    "the outcome of this call is unknown: the process ended while it ran";

/// What people decided about the tool calls that wait.
#[derive(Default)]
pub(super) struct Decided {
    /// The tool calls that may run.
    pub(super) confirmed: Vec<Confirmed>,
    /// The results of those that do not run.
    pub(super) results: Vec<ToolResult>,
}

/// Returns what people decided: what an earlier call was to follow and did not, and what was decided
/// since, in the order of the questions.
///
/// What they wrote has passed the guards of the call.
pub(super) async fn decided(
    cx: &CallContext,
    memory: &Memory,
    calls: &[ToolUse],
    waiting: &[PendingCall],
) -> Decided {
    let mut all = Decided::default();
    for kept in memory.confirmed() {
        let Some(call) = calls.iter().find(|call| call.id == kept.id) else {
            // It is of a sub-agent, which knows whether it is the tool call that was shown.
            all.confirmed.push(kept);
            continue;
        };
        let is_asked = waiting.iter().any(|it| it.id == kept.id && it.question.is_some());
        let is_same = !kept.is_held || kept.shown.as_ref() == Some(&call.input);
        if is_same || is_asked {
            all.confirmed.push(kept);
        } else {
            all.results.push(ToolResult::error(call, CHANGED));
        }
    }
    for question in memory.questions() {
        let Some(decision) = question.decided.as_ref().map(|decided| &decided.decision) else {
            continue;
        };
        let Some(pending) = waiting.iter().find(|pending| pending.id == question.call_id) else {
            continue;
        };
        let call = ToolUse { id: pending.id.clone(), ..pending.call.clone() };
        let kept = all.confirmed.iter().position(|kept| kept.id == pending.id);
        let kept = kept.map(|index| all.confirmed.swap_remove(index));
        // A sub-agent that asks again has what was decided before.
        let kept = kept.filter(|kept| kept.asked.is_none());
        let edited = kept.as_ref().and_then(|kept| kept.edited.clone());
        if !is_as_shown(&question, pending, calls, edited.as_ref()) {
            all.results.push(ToolResult::error(&call, CHANGED));
            continue;
        }
        let mut askers = question.shown_askers();
        if let Decision::Edit(_) = decision {
            // Others answered other arguments: they ask again.
            askers.retain(|asker| !asker.is_answered);
        } else {
            let before = kept.as_ref().and_then(|kept| kept.askers.clone());
            Asker::add_all(&mut askers, before.into_iter().flatten());
        }
        let shown = kept.and_then(|kept| kept.shown).or_else(|| Some(question.arguments.clone()));
        let confirmed = |edited| Confirmed {
            tool: Some(call.name.as_str().into()),
            shown,
            edited,
            askers: Some(askers.clone()),
            approved: question
                .decided
                .as_ref()
                .map(|it| ApprovedBy::new(it.by.clone(), it.approval.clone())),
            is_held: is_held(pending),
            ..Confirmed::from(pending.id.clone())
        };
        match decision {
            Decision::Approve => all.confirmed.push(confirmed(edited)),
            Decision::Edit(arguments) => all.confirmed.push(confirmed(Some(arguments.clone()))),
            Decision::Reject(reason) => {
                let wording = pending.question.as_ref().map(|it| it.wording).unwrap_or_default();
                let reason = screened(cx, Door::Rejection, &call, reason.clone().into()).await;
                let reason =
                    reason.as_ref().map_or_else(|it| it.reason.as_str(), ToolOutput::as_str);
                all.results.push(ToolResult::error(&call, rejection(wording, &call, reason)));
            }
            Decision::Respond(output) => {
                let output = screened(cx, Door::Response, &call, output.clone()).await;
                all.results.push(match output {
                    Ok(output) => ToolResult::success(&call, output),
                    Err(blocked) => ToolResult::error(&call, blocked.reason),
                });
            }
        }
    }
    all
}

/// Returns what a person wrote as the guards of the call left it.
async fn screened(
    cx: &CallContext,
    door: Door,
    call: &ToolUse,
    mut written: ToolOutput,
) -> Result<ToolOutput, TextBlocked> {
    cx.screen_output(door, &call.name, &mut written).await?;
    Ok(written)
}

/// Returns the results of tool calls that a caller allows and that differ from those that it was shown.
pub(super) fn changed(
    confirms: &[Confirmed],
    memory: &Memory,
    calls: &[ToolUse],
) -> Vec<ToolResult> {
    let held = confirms.iter().filter(|confirmed| confirmed.is_held);
    let changed = held.filter_map(|Confirmed { id, shown, .. }| {
        let call = calls.iter().find(|call| call.id == *id)?;
        let kept = memory.confirmed().into_iter().find(|kept| kept.id == *id);
        let edited = kept.and_then(|kept| kept.edited);
        let is_same = shown.as_ref() == Some(edited.as_ref().unwrap_or(&call.input));
        (!is_same).then(|| ToolResult::error(call, CHANGED))
    });
    changed.collect()
}

/// Returns whether people are asked about the tool call before anything of the answer runs.
pub(super) fn is_held(pending: &PendingCall) -> bool {
    pending.question.as_ref().is_some_and(|question| question.is_held)
}

/// Returns whether the tool call that waits is the one that was shown, with the arguments that a person
/// gave before, if one did.
fn is_as_shown(
    question: &Waiting,
    pending: &PendingCall,
    calls: &[ToolUse],
    edited: Option<&Value>,
) -> bool {
    let is_same = question.is_as_shown()
        && question.tool == pending.call.name
        && question.arguments == pending.call.input;
    // What hooks change before a tool runs is shown too; the permission check compares it.
    let is_of_answer = || {
        let mut calls = calls.iter().filter(|call| call.id == pending.id);
        calls.all(|call| {
            call.name == question.tool && *edited.unwrap_or(&call.input) == question.arguments
        })
    };
    let is_same = is_same && question.identity == pending.identity;
    is_same && (!is_held(pending) || is_of_answer())
}

/// Returns the text by which the model reads that a tool call is rejected.
fn rejection(wording: Wording, call: &ToolUse, reason: &str) -> String {
    let ToolUse { name, id, .. } = call;
    match wording {
        Wording::Spring => format!(
            "Tool call request for {name} has been rejected by human. The reason for why this tool is \
             rejected and the suggestion for next possible tool choose is listed as below:\n {reason}."
        ),
        Wording::LangChain if reason.is_empty() => format!(
            "User rejected the tool call for `{name}` with id {id}. The tool was not executed. Do not \
             retry this tool call unless the user explicitly requests it."
        ),
        Wording::LangChain => {
            format!("User rejected the tool call for `{name}` with reason: {reason}")
        }
    }
}
