//! A hook around calls that counts them, and that may fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::event::EventMask;
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::prelude::*;

/// Counts the calls that reach it, and may fail them all.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    pub(crate) calls: Arc<AtomicUsize>,
    around: AroundMask,
    fails: bool,
}

impl Count {
    pub(crate) fn models() -> Self {
        Self { calls: Arc::default(), around: AroundMask::MODEL_CALL, fails: false }
    }

    pub(crate) fn tools() -> Self {
        Self { around: AroundMask::TOOL_CALL, ..Self::models() }
    }

    pub(crate) fn failing(self) -> Self {
        Self { fails: true, ..self }
    }

    pub(crate) fn get(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl AgentHook for Count {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        self.around
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(next.fail("the limit is reached"));
        }
        next.run(call.into_request()).await
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(next.fail("the limit is reached"));
        }
        next.run(call.into_tool_use()).await
    }
}
