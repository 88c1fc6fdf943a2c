//! Hooks that block their thread.

use hooks_core::HookResult;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::event::{Flow, HookEvent};
use crate::hook::agent_hook::AgentHook;
use crate::hook::forward::forward_hook;

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
    // No event is handled without waiting.
    forward_hook! {
        self => AgentHook, &self.0;
        name priority order events answers around answers_around tools inherit always is_parallel once role watcher
        foreign_guard tool_names tool_labels ends_with_process needs_login plan_check counter not_in_shadow shadow_parts __shadow around_model_call around_tool_call
        around_permission_check around_compression around_call around_model_attempt
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
}
