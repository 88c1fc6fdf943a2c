//! Requests for approval, and the decisions about them.

use std::fmt;

use hooks_core::BoxError;
use serde_json::Value;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::ToolUse;

/// A tool call that needs approval, as a decider of
/// [`ToolApproval`](crate::guard::ToolApproval) receives it.
#[derive(Clone)]
pub struct ApprovalRequest {
    call: ToolUse,
    cx: CallContext,
}

impl ApprovalRequest {
    /// Creates a request, for unit tests of deciders.
    #[must_use]
    pub fn new(call: ToolUse, cx: CallContext) -> Self {
        Self { call, cx }
    }

    /// Returns the tool call, with the changes of earlier hooks.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.call
    }

    /// Returns the context of the agent's call: its agent, its thread, and the caller's values.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        &self.cx
    }
}

/// Shows the tool and its agent, no arguments.
impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("tool", &self.call.name)
            .field("id", &self.call.id)
            .field("agent", &self.cx.agent_name())
            .finish_non_exhaustive()
    }
}

/// What a decider says to a tool call.
#[derive(Clone, PartialEq)]
#[must_use = "a decider returns it"]
#[non_exhaustive]
pub enum Decision {
    /// The tool call runs as it is.
    Allow,
    /// The tool call does not run; the model reads the reason.
    Deny(String),
    /// The tool call runs with these arguments, a JSON object. The model's message stays as it is;
    /// [`ran`](hooks_agent_core::message::ToolResult::ran) shows what ran.
    Edit(Value),
}

impl Decision {
    /// Creates the decision that the tool call does not run.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(reason.into())
    }
}

/// Shows the kind of the decision alone.
impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "Allow",
            Self::Deny(_) => "Deny(..)",
            Self::Edit(_) => "Edit(..)",
        })
    }
}

/// The return types of deciders: [`Decision`], or a `Result` of it, of which an error denies the
/// tool call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a decider returns",
    note = "return `Decision`, or a `Result` of it"
)]
pub trait IntoDecision {
    /// Converts the value into a decision.
    ///
    /// # Errors
    /// The error of the decider.
    fn into_decision(self) -> Result<Decision, BoxError>;
}

impl IntoDecision for Decision {
    fn into_decision(self) -> Result<Decision, BoxError> {
        Ok(self)
    }
}

impl<E: Into<BoxError>> IntoDecision for Result<Decision, E> {
    fn into_decision(self) -> Result<Decision, BoxError> {
        self.map_err(Into::into)
    }
}
