//! The start of a session, and what the user writes.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{Messages, Msg, Role};
use hooks_agent_core::model::{ChatRequest, ScriptedModel};
use hooks_core::HookRole;

use crate::answer::redacts;
use crate::decided::{Decided, reason_of};
use crate::event::{Event, Scope};

const EVENTS: EventMask =
    EventMask::of(&[EventKind::PreCall, EventKind::PreReasoning, EventKind::Settled]);

/// Answers with what hooks add to the system message.
pub(super) async fn session_start(mut event: Event<'_>) -> Decided {
    let scope = Scope { events: EVENTS, around: |_| AroundMask::NONE };
    let (model, asked) = listening();
    let (reply, _) = event.call(model, scope, None, Messages::new()).await;
    if let Err(error) = reply {
        return Decided::Warns(reason_of(&error));
    }
    let texts = |request: &ChatRequest| {
        let system = request.messages.iter().filter(|msg| msg.role == Role::System);
        system.map(Msg::text).collect::<Vec<_>>().join("\n")
    };
    match asked.take().as_ref().map(texts) {
        Some(text) if !text.trim().is_empty() => Decided::Adds(text),
        _ => Decided::Passes,
    }
}

/// Blocks a text that hooks answer, fail at, or would change: the agent takes no other text.
pub(super) async fn submitted(event: Event<'_>) -> Decided {
    let Some(text) = event.input.prompt.clone() else {
        return Decided::Blocks("the event has no prompt".to_owned());
    };
    match prompt(event, text).await {
        Screened::Same => Decided::Passes,
        Screened::Changed(_) => {
            let reason = "the prompt has text that a hook removes or changes: leave it out";
            Decided::Blocks(reason.to_owned())
        }
        Screened::Blocked(reason) => Decided::Blocks(reason),
    }
}

/// Returns what hooks make of a prompt.
pub(super) async fn prompt(mut event: Event<'_>, text: String) -> Screened {
    let scope = Scope { events: EVENTS, around: redacts };
    let (model, asked) = listening();
    let prompt = Messages::from(Msg::user(text.as_str()));
    let (reply, _) = event.call(model, scope, None, prompt).await;
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return Screened::Blocked(reason_of(&error)),
    };
    let Some(request) = asked.take() else {
        let text = reply.text();
        return Screened::Blocked(match text.trim() {
            "" => "a hook blocked the prompt".to_owned(),
            _ => text,
        });
    };
    let users: Vec<_> = request.messages.iter().filter(|msg| msg.role == Role::User).collect();
    let texts: Vec<_> = users.iter().map(|msg| msg.text()).collect();
    match texts.join("\n") {
        same if same == text => Screened::Same,
        changed => Screened::Changed(changed),
    }
}

/// Returns what hooks that limit model calls say of the next one.
pub(super) async fn model_call(mut event: Event<'_>) -> Screened {
    let limits = |role| match role {
        Some(HookRole::Limits) => AroundMask::MODEL_CALL,
        _ => AroundMask::NONE,
    };
    let scope = Scope { events: EventKind::Settled.into(), around: limits };
    let (model, asked) = listening();
    let (reply, _) = event.call(model, scope, None, Messages::new()).await;
    match reply {
        Err(error) => Screened::Blocked(reason_of(&error)),
        Ok(_) if asked.take().is_some() => Screened::Same,
        Ok(reply) => Screened::Blocked(reply.text()),
    }
}

/// Returns what hooks make of a reply.
pub(super) async fn reply(mut event: Event<'_>, text: String) -> Screened {
    let events = [EventKind::PostReasoning, EventKind::PostCall, EventKind::Settled];
    let scope = Scope { events: EventMask::of(&events), around: redacts };
    let says = text.clone();
    let model = ScriptedModel::new("none", move |_| says.clone());
    let (reply, _) = event.call(model, scope, None, Messages::new()).await;
    match reply {
        Err(error) => Screened::Blocked(reason_of(&error)),
        Ok(reply) if reply.text() == text => Screened::Same,
        Ok(reply) => Screened::Changed(reply.text()),
    }
}

/// What hooks make of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screened {
    /// It stays as it is.
    Same,
    /// They removed or changed something.
    Changed(String),
    /// They block it, for this reason.
    Blocked(String),
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
