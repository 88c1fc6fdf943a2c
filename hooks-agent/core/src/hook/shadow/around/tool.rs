//! A tool call beside which a hook in shadow runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::call::tool::Tool;
use crate::hook::around::{Inner, NextTool, ToolCall};
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::around::rest::{Beside, NoResult, ONCE, Real, Rest};
use crate::hook::shadow::executor::Shadow;
use crate::hook::shadow::work::{Job, Seen};
use crate::hook::watch::{Content, HookFlow, Installed};
use crate::message::{ToolResult, ToolUse};
use crate::model::ToolSpec;
use crate::tool::ToolError;

pub(in crate::hook::shadow) struct BesideTool {
    pub(in crate::hook::shadow) call: Arc<ToolUse>,
    number: u64,
    key: Option<Arc<str>>,
    spec: Option<ToolSpec>,
    tool: Option<Arc<dyn Tool>>,
    runs_agent: bool,
    real: Real<ToolResult>,
}

/// A tool call, as a hook around it sees it.
pub(crate) struct ToolOfCall {
    pub(crate) spec: Option<ToolSpec>,
    pub(crate) tool: Option<Arc<dyn Tool>>,
    pub(crate) runs_agent: bool,
}

impl Shadow {
    /// Has the hook run beside a tool call.
    pub(crate) fn beside_tool(
        &self,
        hook: &Installed,
        agent: &dyn Agent,
        cx: &CallContext,
        call: &Arc<ToolUse>,
        of_call: ToolOfCall,
    ) -> Beside<ToolResult> {
        let (beside, real) = Beside::new();
        let (number, key) = match cx.checked() {
            Some(checked) => (checked.number(), checked.key().cloned()),
            None => (0, None),
        };
        let ToolOfCall { spec, tool, runs_agent } = of_call;
        let call = call.clone();
        let job = BesideTool { call, number, key, spec, tool, runs_agent, real };
        self.send(agent, cx, hook.info(), Job::Tool(Box::new(job)));
        beside
    }
}

/// The rest of a tool call, with what it comes to.
struct RestOfTool {
    rest: Rest<Arc<ToolUse>, ToolResult>,
    came_to: Mutex<CameTo>,
}

#[derive(Default)]
struct CameTo {
    /// The result, as content that is compared.
    got: Option<Content>,
    /// Whether what the hook demands of the call that runs refuses it.
    is_refused: bool,
    /// Whether the hook runs another tool in place of the agent's.
    has_stand_in: bool,
}

impl RestOfTool {
    fn came_to(&self) -> MutexGuard<'_, CameTo> {
        self.came_to.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner<Arc<ToolUse>, ToolResult, ToolError> for RestOfTool {
    fn run(&self, call: Arc<ToolUse>) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let cx = &self.rest.cx;
            let stand_in = cx.checked().and_then(|checked| checked.stand_in());
            self.came_to().has_stand_in |= stand_in.is_some();
            let admitted = match cx.checked() {
                None => Ok(()),
                Some(checked) => match checked.admit(&call) {
                    Ok(reserved) => cx.commit_start(checked.id(), false, reserved).await,
                    Err(error) => Err(error),
                },
            };
            if let Err(error) = admitted {
                self.came_to().is_refused = true;
                return Err(error);
            }
            match self.rest.pass(&call).await {
                Ok(result) => {
                    self.came_to().got = Some(Content::of_tool_result(&result));
                    Ok(result)
                }
                Err(NoResult::Again) => Err(ToolError::Failed(ONCE.into())),
                Err(NoResult::Gone) => Err(ToolError::Interrupted),
                Err(NoResult::Failed(report)) => Err(report.into()),
            }
        })
    }

    fn fail(&self, cause: BoxError) -> ToolError {
        ToolError::Failed(cause)
    }

    fn context(&self) -> &CallContext {
        &self.rest.cx
    }
}

impl BesideTool {
    pub(in crate::hook::shadow) async fn run(
        self,
        hook: &dyn DynAgentHook,
        agent: &dyn Agent,
        cx: &CallContext,
        seen: &mut Seen,
    ) {
        let Self { call, number, key, spec, tool, runs_agent, real } = self;
        let cx = cx.shadow_of_tool(&call, number, key);
        let rest = RestOfTool { rest: Rest::new(cx.clone(), real), came_to: Mutex::default() };
        let before = Content::of_tool_use(&call);
        let of_hook = ToolCall::new(agent, &cx, call, spec.as_ref(), tool.as_deref());
        let of_hook = of_hook.of_agent(runs_agent);
        let ended = hook.around_tool_call(of_hook, NextTool::new(&rest)).await;
        let CameTo { got, is_refused, has_stand_in } =
            rest.came_to.into_inner().unwrap_or_else(PoisonError::into_inner);
        let inside = rest.rest.into_seen();
        let alone = match &ended {
            Ok(result) if !result.is_error => HookFlow::Answer,
            Ok(_) | Err(ToolError::Denied { .. } | ToolError::Quota(_)) => HookFlow::Refuse,
            Err(_) => HookFlow::Failed,
        };
        seen.flow = match inside.flow(ended.is_err(), alone) {
            HookFlow::Cancelled => HookFlow::Cancelled,
            _ if is_refused => HookFlow::Refuse,
            flow => flow,
        };
        (seen.waited, seen.has_changed) = (inside.waited, has_stand_in);
        if let Some(passed) = &inside.passed {
            seen.contents[0] = (before, Content::of_tool_use(passed));
        }
        if let (Ok(result), Some(got)) = (&ended, got) {
            seen.contents[1] = (got, Content::of_tool_result(result));
        }
    }
}
