//! Hooks that block their thread.

use std::sync::Arc;

use hooks_core::{HookResult, HookRole};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::call::ForeignGuard;
use crate::error::AgentError;
use crate::event::{EventMask, Flow, HookEvent};
use crate::hook::agent_hook::AgentHook;
use crate::hook::around::{
    AroundMask, Compression, ModelCall, NextCompression, NextModel, NextPermission, NextTool,
    PermissionCheck, ToolCall,
};
use crate::hook::watch::HookWatcher;
use crate::message::{Messages, ToolResult};
use crate::model::ModelAnswer;
use crate::tool::{Permission, ToolError, Tools};

/// Runs a hook that blocks its thread: it reads files, queries a database with a blocking driver,
/// or computes.
///
/// Meanwhile the runtime moves other tasks to another thread, but other futures of the same task,
/// such as parallel tools, wait. Handlers around calls run as they are. Requires the multi-threaded runtime of tokio; in any other runtime
/// the hook fails.
///
/// ```
/// use hooks_agent::hook::Blocking;
/// use hooks_agent::prelude::*;
///
/// struct Audit;
///
/// impl AgentHook for Audit {
///     async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
///         std::fs::write("/dev/null", event.kind().name())?;
///         Ok(Flow::Continue)
///     }
/// }
///
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(Blocking(Audit)).build()?;
/// # Ok::<(), hooks_agent::error::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Blocking<H>(pub H);

impl<H: AgentHook> AgentHook for Blocking<H> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn priority(&self) -> i32 {
        self.0.priority()
    }

    fn events(&self) -> EventMask {
        self.0.events()
    }

    fn answers(&self) -> EventMask {
        self.0.answers()
    }

    fn tools(&self) -> Tools {
        self.0.tools()
    }

    fn inherit(&self) -> bool {
        self.0.inherit()
    }

    fn always(&self) -> bool {
        self.0.always()
    }

    fn role(&self) -> Option<HookRole> {
        self.0.role()
    }

    fn once(&self) -> bool {
        self.0.once()
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        self.0.watcher()
    }

    fn foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>> {
        self.0.foreign_guard()
    }

    fn tool_names(&self) -> Vec<String> {
        self.0.tool_names()
    }

    fn ends_with_process(&self) -> Option<String> {
        self.0.ends_with_process()
    }

    fn counter(&self) -> Option<String> {
        self.0.counter()
    }

    fn around(&self) -> AroundMask {
        self.0.around()
    }

    fn answers_around(&self) -> AroundMask {
        self.0.answers_around()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        match Handle::try_current() {
            Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
                let is_sync = self.0.sync_events().contains(event.kind());
                block_in_place(|| {
                    if is_sync {
                        self.0.on_event_now(event)
                    } else {
                        handle.block_on(self.0.on_event(event))
                    }
                })
            }
            _ => Err("a blocking hook needs a multi-threaded runtime of tokio".into()),
        }
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        self.0.around_model_call(call, next).await
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.0.around_tool_call(call, next).await
    }

    async fn around_permission_check(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> Result<Permission, AgentError> {
        self.0.around_permission_check(check, next).await
    }

    async fn around_compression(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        self.0.around_compression(compression, next).await
    }
}
