//! The event of a failure.

use std::error::Error;
use std::fmt;

use crate::agent::Agent;
use crate::context::CallContext;
use crate::event::accessors::of_a_call;
use crate::event::{Decided, Flow};
use crate::message::{Msg, ToolResult, ToolUse};

/// Something failed: a model, a tool, a hook.
///
/// Fired once for each failure, where it happened: what failed in a round is not told again when the
/// call fails with it. An interrupt is no failure. A hook may supply what is missing; one that fails
/// itself is attached to the error and never takes its place.
pub struct ErrorEvent<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    phase: ErrorPhase<'a>,
    error: &'a (dyn Error + Send + Sync + 'static),
}

/// Where something failed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorPhase<'a> {
    /// In the call, outside of all else. A message saves it, as the reply.
    Call,
    /// In a round of reasoning. A message saves it, as the model's answer.
    Reasoning,
    /// In a tool call, or its hooks. A tool result saves it; without one, the failure of a tool is a
    /// result that the model reads, and the failure of a hook fails the call.
    Acting(&'a ToolUse),
    /// In the summary. A message saves it, as the summary.
    Summary,
}

/// What a hook supplies in place of what failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Substitute {
    /// For a call, a round of reasoning or a summary.
    Message(Msg),
    /// For a tool call.
    ToolResult(ToolResult),
}

impl From<Msg> for Substitute {
    fn from(msg: Msg) -> Self {
        Self::Message(msg)
    }
}

impl From<ToolResult> for Substitute {
    fn from(result: ToolResult) -> Self {
        Self::ToolResult(result)
    }
}

impl<'a> ErrorEvent<'a> {
    /// The event, for trying a hook out.
    #[must_use]
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        phase: ErrorPhase<'a>,
        error: &'a (dyn Error + Send + Sync + 'static),
    ) -> Self {
        Self { agent, cx, phase, error }
    }

    of_a_call!();

    /// Where it failed.
    #[must_use]
    pub fn phase(&self) -> ErrorPhase<'a> {
        self.phase
    }

    /// What failed: an [`AgentError`](crate::AgentError), or of a tool a
    /// [`ToolError`](crate::ToolError).
    #[must_use]
    pub fn error(&self) -> &'a (dyn Error + Send + Sync + 'static) {
        self.error
    }

    /// Supplies what is missing: a message, or at [`ErrorPhase::Acting`] a tool result. What is not of
    /// the kind that the phase needs is a failure of the hook.
    pub fn recover(&self, substitute: impl Into<Substitute>) -> Flow {
        Flow::then(Decided::Recover(substitute.into()))
    }
}

impl fmt::Debug for ErrorEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorEvent")
            .field("phase", &self.phase)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
