//! Registers event hooks around whole calls.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::{
    AgentCall, AroundMask, AroundRun, DynAgentHook, Inner, InnerCall, Installed, MapEvent,
    NextCall, NoteInside, Registration, Target, level_of,
};
use crate::message::{Messages, Msg};
use crate::react::agent::ReActAgent;
use crate::react::around_hooks::noted::noted;
use crate::react::methods::ReActAgentWholeCallArgs;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    let hook = Installed::new(hook, registration, level_of(target));
    let hook = hook!(ReActAgent::AROUND_WHOLE_CALL, async move |agent, args, next| {
        let ReActAgentWholeCallArgs { cx, messages } = args;
        let run = AroundRun::of_call(&hook, &cx).map(Box::new);
        let note = run.as_deref().map(|run| run as &dyn NoteInside);
        let inner = InnerWhole { next, cx: cx.clone(), note };
        let own = hook.enter(agent, &cx).map_err(|error| inner.fail(error))?;
        let cx = own.as_ref().unwrap_or(&cx);
        let call = AgentCall::new(agent, cx, messages);
        let ended = hook.hook.around_call(call, NextCall::new(&inner)).await;
        if let Some(run) = &run {
            run.end(None, ended.is_err());
        }
        ended
    });
    let options = registration.options_around(AroundMask::CALL);
    target.register(ReActAgent::AROUND_WHOLE_CALL, options, hook);
}

struct InnerWhole<'a> {
    next: Next<'a, ReActAgent, ReActAgentWholeCallArgs>,
    cx: CallContext,
    note: Option<&'a dyn NoteInside>,
}

impl InnerWhole<'_> {
    fn pass(&self, cx: CallContext, messages: Messages) -> BoxFuture<'_, Result<Msg, AgentError>> {
        if let Some(note) = self.note {
            note.passes();
        }
        let inside = self.next.run(ReActAgentWholeCallArgs { cx, messages });
        noted(self.note, inside, |_| None)
    }
}

impl Inner<Messages, Msg, AgentError> for InnerWhole<'_> {
    fn run(&self, messages: Messages) -> BoxFuture<'_, Result<Msg, AgentError>> {
        self.pass(self.cx.clone(), messages)
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}

impl InnerCall for InnerWhole<'_> {
    fn run_mapped(
        &self,
        messages: Messages,
        map: MapEvent,
    ) -> BoxFuture<'_, Result<Msg, AgentError>> {
        self.pass(self.cx.map_events(map), messages)
    }
}
