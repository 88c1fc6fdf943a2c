//! Reads a call: its user, and the texts of the user.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::PreCall;
use hooks_agent_core::message::{GenerateReason, Messages, Msg, Role};

/// The name of the value of the thread with what is said in its run.
const NAME: &str = "LongTermMemory";

/// What a user says in a run, for the call that resumes it: a thread may have several users.
#[derive(Clone, Serialize, Deserialize)]
struct Saying {
    user: Arc<str>,
    said: String,
}

/// Returns the user of a call, or else of the call that it is part of.
pub(super) fn user_of(cx: &CallContext) -> Option<Arc<str>> {
    let mut calls = std::iter::successors(Some(cx), |cx| cx.parent());
    calls.find_map(CallContext::user).filter(|user| !user.is_empty()).map(Into::into)
}

/// Returns what the user says in a call, or in the run that it resumes. It is empty if another user
/// began the run.
pub(super) fn said_by(user: &Arc<str>, event: &PreCall<'_>) -> String {
    let (cx, said) = (event.context(), text_of(event.messages()));
    if said.is_empty() {
        // An agent without threads resumes nothing.
        let saying = cx.thread_value::<Saying>(NAME).ok().flatten();
        return saying.filter(|saying| saying.user == *user).map_or(said, |saying| saying.said);
    }
    let saying = Saying { user: user.clone(), said };
    if cx.memory().is_some()
        && let Err(error) = cx.set_thread_value(NAME, &saying)
    {
        tracing::warn!(target: "hooks_agent::builtin::knowledge", agent = cx.agent_name(), %error, "what is said is not kept for later calls");
    }
    saying.said
}

/// Removes what is said in a run, which ended or has no user.
pub(super) fn end_run(cx: &CallContext) {
    // An agent without threads has kept nothing.
    let _ = cx.update_thread_value(NAME, |saying: &mut Option<Saying>| *saying = None);
}

fn text_of(messages: &Messages) -> String {
    let said = messages.iter().filter(|msg| msg.role == Role::User).map(Msg::text);
    said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
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
