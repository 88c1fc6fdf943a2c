//! Registers event hooks around the attempts to have an answer of a model.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::{
    AroundMask, AroundRun, DynAgentHook, Inner, Installed, ModelAttempt, NextAttempt, NoteInside,
    Registration, Target, level_of,
};
use crate::model::{ChatModel, ChatRequest, ModelAnswer};
use crate::react::agent::ReActAgent;
use crate::react::around_hooks::noted::noted;
use crate::react::methods::ReActAgentModelAttemptArgs;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    let hook = Installed::new(hook, registration, level_of(target));
    let hook = hook!(ReActAgent::AROUND_MODEL_ATTEMPT, async move |agent, args, next| {
        let ReActAgentModelAttemptArgs { cx, model, request } = args;
        let run = AroundRun::of_attempt(&hook, &cx, &request).map(Box::new);
        let note = run.as_deref().map(|run| run as &dyn NoteInside);
        let inner = InnerAttempt { next, cx: cx.clone(), model: model.clone(), note };
        let own = hook.enter(agent, &cx).map_err(|error| inner.fail(error))?;
        let cx = own.as_ref().unwrap_or(&cx);
        let attempt = ModelAttempt::new(agent, cx, &*model, request);
        let ended = hook.hook.around_model_attempt(attempt, NextAttempt::new(&inner)).await;
        if let Some(run) = &run {
            run.end(None, ended.is_err());
        }
        ended
    });
    let options = registration.options_around(AroundMask::MODEL_ATTEMPT);
    target.register(ReActAgent::AROUND_MODEL_ATTEMPT, options, hook);
}

struct InnerAttempt<'a> {
    next: Next<'a, ReActAgent, ReActAgentModelAttemptArgs>,
    cx: CallContext,
    model: Arc<dyn ChatModel>,
    note: Option<&'a dyn NoteInside>,
}

impl Inner<ChatRequest, ModelAnswer, AgentError> for InnerAttempt<'_> {
    fn run(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        if let Some(note) = self.note {
            note.passes_request(&request);
        }
        let (cx, model) = (self.cx.clone(), self.model.clone());
        let inside = self.next.run(ReActAgentModelAttemptArgs { cx, model, request });
        noted(self.note, inside, |_| None)
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}
