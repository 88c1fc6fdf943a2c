//! Whole answers in the form of chat completions.

use serde_json::Value;

use crate::model::answer::chat::read::{TEXTS, held_of};
use crate::model::answer::chat::write::{rewrite, settle_reason};
use crate::model::answer::piece::{Fate, Malformed};
use crate::model::answer::whole::{Part, Settled};

const MESSAGE: &str = "/choices/0/message";

/// Finds the parts of an answer.
pub(crate) fn parts(body: &Value) -> Result<Vec<Part>, Malformed> {
    let choices = body["choices"].as_array().ok_or(Malformed)?;
    let [choice] = choices.as_slice() else { return Err(Malformed) };
    let message = &choice["message"];
    if !message.is_object() || message["function_call"].is_object() {
        return Err(Malformed);
    }
    // Thoughts are before what is said.
    let texts = TEXTS.iter().rev().filter(|(field, _)| message[field].is_string());
    let mut parts: Vec<_> =
        texts.map(|(field, kind)| Part::text(*kind, format!("{MESSAGE}/{field}"))).collect();
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        parts.push(Part::held(format!("{MESSAGE}/tool_calls/{index}"), held_of(call.clone())));
    }
    Ok(parts)
}

/// Writes what became of calls.
pub(crate) fn settle(body: &mut Value, settled: Vec<Settled>) {
    let mut reasons = Vec::new();
    for Settled { at, fate, .. } in settled {
        let Some(call) = body.pointer_mut(&at) else { continue };
        match fate {
            Fate::Passes | Fate::Replaced(_) => {}
            Fate::Rewritten(input) => rewrite(call, &input),
            Fate::Dropped => *call = Value::Null,
            Fate::Denied(reason) => {
                *call = Value::Null;
                reasons.push(reason);
            }
        }
    }
    let choice = &mut body["choices"][0];
    let has_denied = !reasons.is_empty();
    let message = &mut choice["message"];
    let mut has_calls = false;
    if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
        calls.retain(|call| !call.is_null());
        has_calls = !calls.is_empty();
        if !has_calls && let Some(fields) = message.as_object_mut() {
            fields.shift_remove("tool_calls");
        }
    }
    if has_denied {
        let said = message["content"].as_str().filter(|said| !said.is_empty()).map(str::to_owned);
        let said: Vec<_> = said.into_iter().chain(reasons).collect();
        message["content"] = said.join("\n\n").into();
    }
    settle_reason(choice, has_calls, has_denied);
}
