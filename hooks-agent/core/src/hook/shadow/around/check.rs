//! A permission check beside which a hook in shadow runs.

use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::around::{Inner, NextPermission, PermissionCheck};
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::around::rest::{Beside, Real, Rest, agent_error};
use crate::hook::shadow::executor::Shadow;
use crate::hook::shadow::work::{Job, Seen};
use crate::hook::watch::{HookFlow, Installed};
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

impl Inner<Arc<ToolUse>, Permission, AgentError> for Rest<Arc<ToolUse>, Permission> {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<Permission, AgentError>> {
        Box::pin(async move { self.pass(&call).await.map_err(agent_error) })
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        AgentError::other(cause)
    }

    fn context(&self) -> &CallContext {
        &self.cx
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
        let rest = Rest::<Arc<ToolUse>, Permission>::new(cx.clone(), self.real);
        let check = PermissionCheck::new(agent, cx, self.call);
        let ended = hook.around_permission_check(check, NextPermission::new(&rest)).await;
        let inside = rest.into_seen();
        seen.waited = inside.waited;
        seen.flow = match &ended {
            _ if inside.is_gone => HookFlow::Cancelled,
            Ok(Permission::Deny(_)) if inside.passed.is_none() => HookFlow::Refuse,
            Ok(Permission::Ask) if inside.passed.is_none() => HookFlow::Ask,
            ended => inside.flow(ended.is_err(), HookFlow::Answer),
        };
    }
}
