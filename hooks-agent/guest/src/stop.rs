//! The end of a turn.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{GenerateReason, Messages};
use hooks_agent_core::model::{ModelError, ScriptedAnswer, ScriptedModel};
use hooks_agent_policy::command::Output;

use crate::answer::{block, end, reason_of};
use crate::event::{Event, Scope};

const EVENTS: EventMask = EventMask::of(&[EventKind::PostReasoning, EventKind::Settled]);

/// Blocks the end if hooks send the model on, with what they say to it. Hooks that fail end the run: if
/// they sent the model on, they would fail again at its next end, and so on.
pub(super) async fn stopped(mut event: Event<'_>) -> Output {
    if event.input.stop_hook_active == Some(true) {
        return Output::default();
    }
    let text = event.input.last_assistant_message.clone().unwrap_or_default();
    let text = if text.is_empty() { "-".to_owned() } else { text };
    let sent_on = Arc::<Mutex<Option<String>>>::default();
    let noted = sent_on.clone();
    let model = ScriptedModel::new("none", move |request| -> ScriptedAnswer {
        if request.messages.is_empty() {
            return text.as_str().into();
        }
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.last_text());
        let (model, reason) = ("none".to_owned(), "there is no model".to_owned());
        ModelError::Failed { model, reason }.into()
    });
    let scope = Scope { events: EVENTS, around: |_| AroundMask::NONE };
    let (reply, _) = event.call(model, scope, None, Messages::new()).await;
    let sent_on = sent_on.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (sent_on, reply) {
        (Some(text), _) if text.trim().is_empty() => block("a hook asks to go on"),
        (Some(text), _) => block(text),
        (None, Err(error)) => end(reason_of(&error)),
        (None, Ok(reply)) if reply.reason == Some(GenerateReason::LimitReached) => {
            end(reply.text())
        }
        (None, Ok(_)) => Output::default(),
    }
}
