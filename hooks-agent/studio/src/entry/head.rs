//! The head of a run: its agent, thread, user and parent.

use std::sync::Arc;

use hooks_agent_core::call::{CallContext, RunId};

/// What a run is, from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct RunHead {
    pub(crate) run: RunId,
    pub(crate) agent: Arc<str>,
    pub(crate) thread: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) parent: Option<RunId>,
    pub(crate) tool_call: Option<Arc<str>>,
    /// The tool of that call, if the studio saw it begin.
    pub(crate) tool: Option<Arc<str>>,
}

impl RunHead {
    /// Returns the head of a call, of a sub-agent with the tool that it is for the one above it.
    pub(crate) fn of(cx: &CallContext, tool: Option<Arc<str>>) -> Self {
        Self {
            run: cx.run_id(),
            agent: cx.agent_name().into(),
            thread: cx.thread_id().into(),
            user: cx.user().map(Into::into),
            parent: cx.parent().map(CallContext::run_id),
            tool_call: cx.tool_call_id().map(Into::into),
            tool,
        }
    }
}
