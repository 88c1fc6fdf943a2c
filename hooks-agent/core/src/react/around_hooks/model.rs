//! Registers event hooks around the calls of the model.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::{
    AroundMask, AroundRun, DynAgentHook, Inner, InnerModelCall, Installed, ModelCall, NextModel,
    NoteInside, Registration, Target, level_of,
};
use crate::model::{ChatModel, ChatRequest, ModelAnswer};
use crate::react::agent::ReActAgent;
use crate::react::around_hooks::noted::noted;
use crate::react::methods::ReActAgentModelCallArgs;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    let hook = Installed::new(hook, registration, level_of(target));
    let hook = hook!(ReActAgent::AROUND_MODEL_CALL, async move |agent, args, next| {
        let ReActAgentModelCallArgs { cx, request } = args;
        let run = AroundRun::of_model(&hook, &cx, &request).map(Box::new);
        let note = run.as_deref().map(|run| run as &dyn NoteInside);
        let inner = InnerModel { next, agent, cx: cx.clone(), note };
        let own = hook.enter(agent, &cx).map_err(|error| inner.fail(error))?;
        let cx = own.as_ref().unwrap_or(&cx);
        let call = ModelCall::new(agent, cx, &*agent.core.model, request);
        let ended = hook.hook.around_model_call(call, NextModel::new(&inner)).await;
        if let Some(run) = &run {
            run.end(None, ended.is_err());
        }
        ended
    });
    let options = registration.options_around(AroundMask::MODEL_CALL);
    target.register(ReActAgent::AROUND_MODEL_CALL, options, hook);
}

struct InnerModel<'a> {
    next: Next<'a, ReActAgent, ReActAgentModelCallArgs>,
    agent: &'a ReActAgent,
    cx: CallContext,
    note: Option<&'a dyn NoteInside>,
}

impl InnerModelCall for InnerModel<'_> {
    fn ask(
        &self,
        model: Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        if let Some(note) = self.note {
            note.passes_request(&request);
        }
        let inside = Box::pin(self.agent.attempt(self.cx.clone(), model, request));
        noted(self.note, inside, |_| None)
    }
}

impl Inner<ChatRequest, ModelAnswer, AgentError> for InnerModel<'_> {
    fn run(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        if let Some(note) = self.note {
            note.passes_request(&request);
        }
        let inside = self.next.run(ReActAgentModelCallArgs { cx: self.cx.clone(), request });
        noted(self.note, inside, |_| None)
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}
