//! The hook of a studio.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::HookEvent;
use hooks_agent_core::hook::{AroundMask, ModelAttempt, NextAttempt, NextTool, ToolCall, priority};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::tool::ToolError;
use hooks_core::HookRole;

use crate::entry::{Data, Shown};
use crate::hook::attempts::Attempted;
use crate::hook::order::NAME;
use crate::hook::recorder::Recorder;
use crate::shared::Shared;

/// The hook by which a [`Studio`](crate::Studio) sees the calls of an agent, of
/// [`Studio::hook`](crate::Studio::hook).
///
/// It copies what happens and never waits. The priority is [`METRICS`](priority::METRICS) and the role
/// [`Observes`](HookRole::Observes): it sees what the hooks before it left, and a plan warns of redactors
/// that run after it. The content of calls with such redactors is not kept. It is inherited, so that
/// sub-agents are seen too; if several hooks of one studio see a call, the first one writes of it.
///
/// A call with a [journal] is shown whole by each of its runs, with the steps that
/// the run replays: the studio of another process has not seen them.
///
/// [journal]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html
#[must_use = "an agent runs it if it is added to its builder"]
pub struct StudioHook {
    recorder: Arc<Recorder>,
}

impl StudioHook {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { recorder: Arc::new(Recorder::new(shared)) }
    }
}

#[agent_hook(
    name = NAME,
    priority = priority::METRICS,
    role = HookRole::Observes,
    inherit,
    answers_around = AroundMask::NONE,
    watcher = |hook: &Self| Some(hook.recorder.clone())
)]
impl StudioHook {
    fn see(&self, event: &mut HookEvent<'_>) {
        // A view fails no call.
        if catch_unwind(AssertUnwindSafe(|| self.recorder.see(event))).is_err() {
            tracing::error!(event = event.kind().name(), "the studio did not show an event");
        }
    }

    async fn around_model_attempt(
        &self,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let Some(run) = self.recorder.claim(attempt.context()) else {
            return next.run(attempt.into_request()).await;
        };
        let begun = Attempted::begin(self.recorder.clone(), run, &attempt);
        match next.run(attempt.into_request()).await {
            Ok(answer) => Ok(begun.answered(answer)),
            Err(error) => {
                begun.failed(&error);
                Err(error)
            }
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        if let Some(run) = self.recorder.claim(call.context()) {
            let kept = run.lock();
            // The call itself may have what a vault put back into it.
            let shown = kept.call(&call.tool_use().id, &call.tool_use().name);
            let shown = Shown::up_to(self.recorder.most(&kept), &*shown);
            self.recorder.add(&kept, "tool_started", &Data::Call(shown), |_| {});
        }
        next.run(call.into_tool_use()).await
    }
}

impl fmt::Debug for StudioHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudioHook").finish_non_exhaustive()
    }
}
