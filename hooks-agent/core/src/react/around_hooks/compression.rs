//! Registers event hooks around compressions of the conversation.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::{
    AroundMask, AroundRun, Compression, DynAgentHook, Inner, Installed, NextCompression,
    NoteInside, Registration, Target, level_of,
};
use crate::message::Messages;
use crate::react::agent::ReActAgent;
use crate::react::around_hooks::noted::noted;
use crate::react::compressor::ContextConfig;
use crate::react::methods::ReActAgentCompressContextArgs;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    let hook = Installed::new(hook, registration, level_of(target));
    let hook = hook!(ReActAgent::AROUND_COMPRESS_CONTEXT, async move |agent, args, next| {
        let ReActAgentCompressContextArgs { cx, messages, config, instructions } = args;
        let run = AroundRun::of_compression(&hook, &cx).map(Box::new);
        let note = run.as_deref().map(|run| run as &dyn NoteInside);
        let given = instructions.clone();
        let inner = InnerCompression { next, cx: cx.clone(), config, instructions, note };
        let own = hook.enter(agent, &cx).map_err(|error| inner.fail(error))?;
        let cx = own.as_ref().unwrap_or(&cx);
        let compression = Compression::new(agent, cx, messages, given.as_deref());
        let next = NextCompression::new(&inner);
        let ended = hook.hook.around_compression(compression, next).await;
        if let Some(run) = &run {
            run.end(None, ended.is_err());
        }
        ended
    });
    target.register(
        ReActAgent::AROUND_COMPRESS_CONTEXT,
        registration.options_around(AroundMask::COMPRESSION),
        hook,
    );
}

struct InnerCompression<'a> {
    next: Next<'a, ReActAgent, ReActAgentCompressContextArgs>,
    cx: CallContext,
    config: ContextConfig,
    instructions: Option<String>,
    note: Option<&'a dyn NoteInside>,
}

impl Inner<Messages, Messages, AgentError> for InnerCompression<'_> {
    fn run(&self, messages: Messages) -> BoxFuture<'_, Result<Messages, AgentError>> {
        if let Some(note) = self.note {
            note.passes();
        }
        let inside = self.next.run(ReActAgentCompressContextArgs {
            cx: self.cx.clone(),
            messages,
            config: self.config,
            instructions: self.instructions.clone(),
        });
        noted(self.note, inside, |_| None)
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}
