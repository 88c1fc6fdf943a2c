//! What a tool gets to know of the call that it runs in.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use futures::channel::mpsc::UnboundedSender;

use crate::context::CallContext;
use crate::message::ToolUse;

/// What a tool gets to know of the call that it runs in: everything a [`CallContext`] says, and the
/// tool call itself.
///
/// ```
/// use hooks_agent::{FunctionTool, ToolContext};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// struct User(String);
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Nothing {}
///
/// let whoami = FunctionTool::with_context("whoami", "Says who asks", async |_: Nothing, cx: ToolContext| {
///     cx.progress("looking");
///     match cx.get::<User>() {
///         Some(user) => user.0.clone(),
///         None => "somebody".to_owned(),
///     }
/// });
/// # let _ = whoami;
/// ```
#[derive(Clone)]
pub struct ToolContext {
    call: CallContext,
    tool_use: Arc<ToolUse>,
    progress: Option<UnboundedSender<String>>,
}

impl ToolContext {
    /// The context of a tool that runs outside of an agent; its progress goes nowhere.
    #[must_use]
    pub fn detached(tool_use: ToolUse) -> Self {
        Self { call: CallContext::default(), tool_use: Arc::new(tool_use), progress: None }
    }

    pub(crate) fn new(
        call: CallContext,
        tool_use: Arc<ToolUse>,
        progress: UnboundedSender<String>,
    ) -> Self {
        Self { call, tool_use, progress: Some(progress) }
    }

    /// The call of the agent.
    #[must_use]
    pub fn call(&self) -> &CallContext {
        &self.call
    }

    /// The tool call as it runs, after the hooks that may have changed it.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.tool_use
    }

    /// Says how far the tool is, to whoever watches: hooks of `ActingChunk` and the agent's stream.
    /// It never fails and never waits; what is said after the tool has returned is lost.
    pub fn progress(&self, text: impl Into<String>) {
        if let Some(progress) = &self.progress {
            // The receiver is gone once the tool has returned.
            let _ = progress.unbounded_send(text.into());
        }
    }

    /// For progress that is said by another task than the tool's.
    #[cfg(feature = "mcp")]
    pub(super) fn progress_sender(&self) -> Option<UnboundedSender<String>> {
        self.progress.clone()
    }
}

impl Deref for ToolContext {
    type Target = CallContext;

    fn deref(&self) -> &CallContext {
        &self.call
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call", &self.call)
            .field("tool_use", &self.tool_use)
            .finish_non_exhaustive()
    }
}
