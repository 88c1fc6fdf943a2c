//! A permission check beside which a hook in shadow runs.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::around::{Inner, NextPermission, PermissionCheck};
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::around::rest::{Beside, Real, Rest, agent_error};
use crate::hook::shadow::executor::Shadow;
use crate::hook::shadow::work::{Job, Seen};
use crate::hook::watch::{Content, HookFlow, Installed};
use crate::message::ToolUse;
use crate::tool::Permission;

pub(in crate::hook::shadow) struct BesideCheck {
    pub(in crate::hook::shadow) call: Arc<ToolUse>,
    real: Real<Permission>,
}

impl Shadow {
    /// Has the hook run beside a permission check.
    pub(crate) fn beside_check(
        &self,
        hook: &Installed,
        agent: &dyn Agent,
        cx: &CallContext,
        call: &ToolUse,
    ) -> Beside<Permission> {
        let (beside, real) = Beside::new();
        let job = Job::Check(Box::new(BesideCheck { call: Arc::new(call.clone()), real }));
        self.send(agent, cx, hook.info(), job);
        beside
    }
}

/// The rest of a permission check, with what it comes to.
struct RestOfCheck {
    rest: Rest<Arc<ToolUse>, Permission>,
    got: Mutex<Option<Permission>>,
}

impl Inner<Arc<ToolUse>, Permission, AgentError> for RestOfCheck {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<Permission, AgentError>> {
        Box::pin(async move {
            let permission = self.rest.pass(&call).await.map_err(agent_error)?;
            *self.got.lock().unwrap_or_else(PoisonError::into_inner) = Some(permission.clone());
            Ok(permission)
        })
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        AgentError::other(cause)
    }

    fn context(&self) -> &CallContext {
        &self.rest.cx
    }
}

impl BesideCheck {
    pub(in crate::hook::shadow) async fn run(
        self,
        hook: &dyn DynAgentHook,
        agent: &dyn Agent,
        cx: &CallContext,
        seen: &mut Seen,
    ) {
        let rest = RestOfCheck { rest: Rest::new(cx.clone(), self.real), got: Mutex::default() };
        let before = Content::of_tool_use(&self.call);
        let check = PermissionCheck::new(agent, cx, self.call);
        let ended = hook.around_permission_check(check, NextPermission::new(&rest)).await;
        let got = rest.got.into_inner().unwrap_or_else(PoisonError::into_inner);
        let inside = rest.rest.into_seen();
        seen.waited = inside.waited;
        if let Some(passed) = &inside.passed {
            seen.contents[0] = (before, Content::of_tool_use(passed));
        }
        seen.flow = match &ended {
            _ if inside.is_gone => HookFlow::Cancelled,
            // What it decides is what the check came to.
            Ok(permission) if got.as_ref() == Some(permission) => HookFlow::Continue,
            Ok(Permission::Deny(_)) => HookFlow::Refuse,
            Ok(Permission::Ask) => HookFlow::Ask,
            Ok(_) if got.is_some() => HookFlow::Answer,
            ended => inside.flow(ended.is_err(), HookFlow::Answer),
        };
    }
}
