//! Registers event hooks around permission checks.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture, Next, hook};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::{
    AroundMask, AroundRun, DynAgentHook, Inner, Installed, NextPermission, NoteInside,
    PermissionCheck, Registration, Target, level_of,
};
use crate::message::ToolUse;
use crate::react::agent::ReActAgent;
use crate::react::around_hooks::noted::noted;
use crate::react::methods::ReActAgentCheckPermissionArgs;
use crate::tool::Permission;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    let hook = Installed::new(hook, registration, level_of(target));
    let hook = hook!(ReActAgent::AROUND_CHECK_PERMISSION, async move |agent, args, next| {
        let ReActAgentCheckPermissionArgs { cx, call } = args;
        let run = AroundRun::of_check(&hook, &cx, &call).map(Box::new);
        let note = run.as_deref().map(|run| run as &dyn NoteInside);
        let inner = InnerCheck { next, cx: cx.clone(), note };
        let own = hook.enter(agent, &cx).map_err(|error| inner.fail(error))?;
        let cx = own.as_ref().unwrap_or(&cx);
        let check = PermissionCheck::new(agent, cx, Arc::new(call));
        let ended = hook.hook.around_permission_check(check, NextPermission::new(&inner)).await;
        if let Some(run) = &run {
            match &ended {
                Ok(Permission::Deny(_)) if !run.has_run() => run.refuse(),
                ended => run.end(None, ended.is_err()),
            }
        }
        ended
    });
    target.register(
        ReActAgent::AROUND_CHECK_PERMISSION,
        registration.options_around(AroundMask::PERMISSION_CHECK),
        hook,
    );
}

struct InnerCheck<'a> {
    next: Next<'a, ReActAgent, ReActAgentCheckPermissionArgs>,
    cx: CallContext,
    note: Option<&'a dyn NoteInside>,
}

impl Inner<Arc<ToolUse>, Permission, AgentError> for InnerCheck<'_> {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<Permission, AgentError>> {
        if let Some(note) = self.note {
            note.passes();
        }
        let call = Arc::unwrap_or_clone(call);
        let inside = self.next.run(ReActAgentCheckPermissionArgs { cx: self.cx.clone(), call });
        noted(self.note, inside, |_| None)
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        self.next.fail(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
    }
}
