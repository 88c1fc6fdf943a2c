//! The end of a turn.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{GenerateReason, Messages};
use hooks_agent_core::model::{ModelError, ScriptedAnswer, ScriptedModel};

use crate::decided::{Decided, reason_of};
use crate::event::{Event, Scope};

const EVENTS: EventMask = EventMask::of(&[EventKind::PostReasoning, EventKind::Settled]);

/// Blocks the end if hooks send the model on, with what they say to it. Hooks that fail end the run: if
/// they sent the model on, they would fail again at its next end, and so on.
pub(super) async fn stopped(mut event: Event<'_>) -> Decided {
    if event.input.stop_hook_active == Some(true) {
        return Decided::Passes;
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
        (Some(text), _) if text.trim().is_empty() => {
            Decided::GoesOn("a hook asks to go on".to_owned())
        }
        (Some(text), _) => Decided::GoesOn(text),
        (None, Err(error)) => Decided::ends(reason_of(&error)),
        (None, Ok(reply)) if reply.reason == Some(GenerateReason::LimitReached) => {
            Decided::ends(reply.text())
        }
        (None, Ok(_)) => Decided::Passes,
    }
}
