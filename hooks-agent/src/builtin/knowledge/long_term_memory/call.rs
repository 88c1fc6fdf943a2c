//! What the hook reads of a call: its user, and what the user says.

use std::sync::Arc;

use crate::call::CallContext;
use crate::event::PreCall;
use crate::message::{GenerateReason, Messages, Msg, Role};

/// Returns the user of a call, or else of the call that it is part of.
pub(super) fn user_of(cx: &CallContext) -> Option<Arc<str>> {
    let mut calls = std::iter::successors(Some(cx), |cx| cx.parent());
    calls.find_map(CallContext::user).filter(|user| !user.is_empty()).map(Into::into)
}

/// Returns what the user says in these messages.
pub(super) fn text_of(messages: &Messages) -> String {
    let said = messages.iter().filter(|msg| msg.role == Role::User).map(Msg::text);
    said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns what the user said last in the thread, for a call that resumes another.
pub(super) fn latest_text(event: &PreCall<'_>) -> String {
    let Some(memory) = event.context().memory() else { return String::new() };
    let messages = memory.messages();
    let mut said = messages.iter().filter(|msg| msg.role == Role::User).map(Msg::text);
    said.rfind(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns whether a reply is an answer, and not a question to people or the text of a hook.
pub(super) fn is_final(reply: &Msg) -> bool {
    let is_answer = match reply.reason {
        None => true,
        Some(reason) => matches!(
            reason,
            GenerateReason::ModelStop | GenerateReason::MaxIterations | GenerateReason::Length
        ),
    };
    is_answer && reply.pending().is_empty()
}
