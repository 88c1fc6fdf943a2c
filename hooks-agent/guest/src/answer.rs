//! The answer of a model elsewhere, while hooks redact it.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::EventMask;
use hooks_agent_core::hook::{AroundMask, ModelCall, NextModel};
use hooks_agent_core::message::{GenerateReason, Messages};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ModelAnswer, ModelError,
};
use hooks_core::HookRole;

use crate::decided::reason_of;
use crate::event::{Event, Scope};

/// The calls that hooks which redact run around.
pub(super) fn redacts(role: Option<HookRole>) -> AroundMask {
    match role {
        Some(HookRole::Redacts) => AroundMask::MODEL_CALL,
        _ => AroundMask::NONE,
    }
}

/// Returns the answer as hooks around the model call that redact leave it, or why they do not.
pub(super) async fn stream(
    mut event: Event<'_>,
    answer: ChatStream,
) -> Result<ModelAnswer, String> {
    let scope = Scope { events: EventMask::NONE, around: redacts };
    let model = Elsewhere(Mutex::new(Some(answer)));
    let take = Take::default();
    let taken = take.0.clone();
    let (reply, _) = event.call_with(model, scope, Some(take), Messages::new()).await;
    if let Err(error) = reply {
        return Err(reason_of(&error));
    }
    let taken = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.ok_or_else(|| "no hook could check the answer".to_owned())
}

/// A model that answers with what another one says.
struct Elsewhere(Mutex<Option<ChatStream>>);

impl ChatModel for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or_else(|| {
            // Nobody has another answer.
            let asked_again = ModelError::Cut { model: self.name().to_owned() };
            Box::pin(futures::stream::iter([Err::<ChatChunk, _>(asked_again)]))
        })
    }
}

/// The outermost hook around the model call. It takes the answer, so that the call ends and the answer goes on.
#[derive(Clone, Default)]
struct Take(Arc<Mutex<Option<ModelAnswer>>>);

#[agent_hook(name = "hooks-agent", priority = i32::MIN)]
impl Take {
    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let answer = next.run(call.into_request()).await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(ModelAnswer::in_place("none", "-", GenerateReason::HookEnded))
    }
}
