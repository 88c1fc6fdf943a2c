//! Answers the event of a tool result, with the result as hooks leave it.

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{GenerateReason, Messages, Msg, ToolOutput};
use hooks_agent_policy::command::Input;
use hooks_core::HookRole;
use serde_json::Value;

use crate::decided::{Decided, reason_of};
use crate::event::{Event, Scope};
use crate::seam::{Outcome, Seam};
use crate::tool_use::{saying, tool_use};

const EVENTS: EventMask = EventMask::of(&[EventKind::PostActing, EventKind::Settled]);

/// Answers with the result as hooks leave it.
pub(super) async fn returned(mut event: Event<'_>) -> Decided {
    let Some(call) = tool_use(event.input) else {
        return Decided::Withholds("the tool call has no name".to_owned());
    };
    let Some(response) = response_of(event.input) else {
        return Decided::Withholds("the event has no `tool_response`".to_owned());
    };
    let output = output_of(&response);
    let text = output.to_string();
    let redacts = |role| match role {
        Some(HookRole::Redacts) => AroundMask::TOOL_CALL,
        _ => AroundMask::NONE,
    };
    let scope = Scope { events: EVENTS, around: redacts };
    let seam = Seam::new(Outcome::Returned(output));
    let (reply, messages) = event.call(saying(call), scope, Some(seam), Messages::new()).await;
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return Decided::Withholds(reason_of(&error)),
    };
    let Some(result) = messages.iter().flat_map(Msg::tool_results).last() else {
        return Decided::Withholds("no hook could check the result".to_owned());
    };
    let left = result.output.to_string();
    let changed = (left != text).then(|| same_form(&response, left));
    let stops = [GenerateReason::ActingStopRequested, GenerateReason::HookEnded];
    if reply.reason.is_some_and(|reason| stops.contains(&reason)) {
        return Decided::Ends("a hook stopped the run after this tool call".to_owned(), changed);
    }
    changed.map_or(Decided::Passes, Decided::Replaces)
}

/// Returns what the tool returned: of an agent of this crate, the text.
fn response_of(input: &Input) -> Option<Value> {
    let response = input.tool_response.as_ref()?;
    let text = response.get("content");
    let text = text.filter(|text| input.hooks.is_some() && text.is_string());
    Some(text.unwrap_or(response).clone())
}

/// Returns JSON with its value, also JSON in a text: hooks look for what JSON escapes in its strings.
fn output_of(response: &Value) -> ToolOutput {
    let Value::String(text) = response else { return ToolOutput::json(response.clone()) };
    match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_string() && is_written_as(&value, text) => ToolOutput::json(value),
        _ => ToolOutput::from(text.as_str()),
    }
}

/// Returns whether the JSON of a value is this text.
fn is_written_as(value: &Value, text: &str) -> bool {
    let written = value.to_string();
    written == text
}

/// Returns a changed result as JSON again, if it was JSON and still is.
fn same_form(before: &Value, left: String) -> Value {
    match before {
        Value::String(_) => Value::String(left),
        _ => serde_json::from_str(&left).unwrap_or(Value::String(left)),
    }
}
