//! A permission check, for a hook around it.

use std::fmt;
use std::sync::Arc;

use hooks_core::BoxError;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::of_a_call;
use crate::hook::around::Inner;
use crate::message::ToolUse;
use crate::tool::Permission;

/// The check whether a tool call may run, for a hook around it: after the hooks of `PreActing`, before
/// the tool call, and again for a tool call that a hook around it changed.
///
/// A hook that allows what a tool would ask about, and nothing that it denies:
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::tool::Permission;
///
/// struct Trust(&'static str);
///
/// #[agent_hook]
/// impl Trust {
///     async fn allow(
///         &self,
///         check: PermissionCheck<'_>,
///         next: NextPermission<'_>,
///     ) -> Result<Permission, AgentError> {
///         let is_trusted = check.tool_use().name == self.0;
///         match next.run(check.into_tool_use()).await? {
///             Permission::Ask if is_trusted => Ok(Permission::Allow),
///             permission => Ok(permission),
///         }
///     }
/// }
/// # let _ = Trust("pay");
/// ```
pub struct PermissionCheck<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    tool_use: Arc<ToolUse>,
}

impl<'a> PermissionCheck<'a> {
    pub(crate) fn new(agent: &'a dyn Agent, cx: &'a CallContext, tool_use: Arc<ToolUse>) -> Self {
        Self { agent, cx, tool_use }
    }

    of_a_call!();

    /// Returns the tool call that is checked. The tool call that runs is this one, whatever a hook
    /// passes on.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.tool_use
    }

    /// Returns the tool call, to pass it on.
    #[must_use]
    pub fn into_tool_use(self) -> Arc<ToolUse> {
        self.tool_use
    }
}

/// The rest of a permission check: the hooks further in, then the tool's
/// [`permission`](crate::tool::Tool::permission).
#[derive(Clone, Copy)]
pub struct NextPermission<'a>(&'a dyn Inner<Arc<ToolUse>, Permission, AgentError>);

impl<'a> NextPermission<'a> {
    pub(crate) fn new(inner: &'a dyn Inner<Arc<ToolUse>, Permission, AgentError>) -> Self {
        Self(inner)
    }

    /// Checks the permission of the tool call. It is `Allow` if the caller confirmed what the tool asks
    /// about.
    ///
    /// # Errors
    /// The errors of the hooks further in.
    pub async fn run(&self, tool_use: impl Into<Arc<ToolUse>>) -> Result<Permission, AgentError> {
        let checking = self.0.run(tool_use.into());
        checking.await
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> AgentError {
        self.0.fail(cause.into())
    }
}

impl fmt::Debug for PermissionCheck<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionCheck").field("tool_use", &self.tool_use).finish_non_exhaustive()
    }
}

impl fmt::Debug for NextPermission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextPermission").finish_non_exhaustive()
    }
}
