//! The start of a session, and what the user writes.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{Messages, Msg, Role};
use hooks_agent_core::model::{ChatRequest, ScriptedModel};
use hooks_agent_policy::command::{CommandEvent, Output};
use hooks_core::HookRole;

use crate::answer::{block, context, reason_of, warn};
use crate::event::{Event, Scope};

const EVENTS: EventMask =
    EventMask::of(&[EventKind::PreCall, EventKind::PreReasoning, EventKind::Settled]);

/// Answers with what hooks add to the system message.
pub(super) async fn session_start(mut event: Event<'_>) -> Output {
    let scope = Scope { events: EVENTS, around: |_| AroundMask::NONE };
    let (model, asked) = listening();
    let (reply, _) = event.call(model, scope, None, Messages::new()).await;
    if let Err(error) = reply {
        return warn(reason_of(&error));
    }
    let texts = |request: &ChatRequest| {
        let system = request.messages.iter().filter(|msg| msg.role == Role::System);
        system.map(Msg::text).collect::<Vec<_>>().join("\n")
    };
    match asked.take().as_ref().map(texts) {
        Some(text) if !text.trim().is_empty() => context(CommandEvent::SessionStart, text),
        _ => Output::default(),
    }
}

/// Blocks a text that hooks answer, fail at, or would change: the agent takes no other text.
pub(super) async fn submitted(mut event: Event<'_>) -> Output {
    let redacts = |role| match role {
        Some(HookRole::Redacts) => AroundMask::MODEL_CALL,
        _ => AroundMask::NONE,
    };
    let Some(text) = event.input.prompt.clone() else { return block("the event has no prompt") };
    let scope = Scope { events: EVENTS, around: redacts };
    let (model, asked) = listening();
    let prompt = Messages::from(Msg::user(text.as_str()));
    let (reply, _) = event.call(model, scope, None, prompt).await;
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return block(reason_of(&error)),
    };
    let Some(request) = asked.take() else {
        let text = reply.text();
        return match text.trim() {
            "" => block("a hook blocked the prompt"),
            _ => block(text),
        };
    };
    let users: Vec<_> = request.messages.iter().filter(|msg| msg.role == Role::User).collect();
    match &users[..] {
        [only] if only.text() == text => Output::default(),
        _ => block("the prompt has text that a hook removes or changes: leave it out"),
    }
}

/// The request that a model got.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Option<ChatRequest>>>);

impl Asked {
    fn take(&self) -> Option<ChatRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Creates a model that notes its request and says nothing of its own.
fn listening() -> (ScriptedModel, Asked) {
    let asked = Asked::default();
    let seen = asked.clone();
    let model = ScriptedModel::new("none", move |request| {
        *seen.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
        "-"
    });
    (model, asked)
}
