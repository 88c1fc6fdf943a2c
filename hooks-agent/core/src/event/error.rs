//! The event of a failure.

use std::error::Error;
use std::fmt;

use hooks_core::HookError;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::accessors::of_an_event;
use crate::event::flow::{Decided, Flow};
use crate::message::{Msg, ToolResult, ToolUse};
use crate::tool::ToolError;

/// The event of a failure of a model, a tool or a hook.
///
/// Fires once for each failure, in the phase where it happened: a failure in a round does not fire
/// again when it fails the call. An interrupt is not a failure. A hook may supply a substitute. If
/// the hook itself fails, its failure is one of the call's
/// [`hook_failures`](CallContext::hook_failures) and does not replace the error.
///
/// A hook that recovers from the failure of a model:
///
/// ```
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let recover = on(|event: &mut ErrorEvent<'_>| match event.phase() {
///     ErrorPhase::Reasoning => {
///         event.recover(Msg::assistant(event.agent().name(), "Please try again later."))
///     }
///     _ => Flow::Continue,
/// });
/// let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
/// let agent = ReActAgent::builder("assistant").model(model).hook(recover).build()?;
/// assert_eq!(agent.call("Are you there?").await?.text(), "Please try again later.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct ErrorEvent<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    phase: ErrorPhase<'a>,
    error: &'a (dyn Error + Send + Sync + 'static),
}

/// The phase of a call in which a failure happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorPhase<'a> {
    /// The call, outside of the other phases. A message recovers it, as the reply.
    Call,
    /// A round of reasoning. A message recovers it, as the model's answer.
    Reasoning,
    /// A tool call or its hooks. A tool result recovers it. Without one, the failure of a tool
    /// becomes a result that the model reads, and the failure of a hook fails the call.
    Acting(&'a ToolUse),
    /// The summary. A message recovers it, as the summary.
    Summary,
}

impl<'a> ErrorPhase<'a> {
    /// Returns the name of the phase, for logs and metrics: `call`, `reasoning`, `acting` or `summary`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Reasoning => "reasoning",
            Self::Acting(_) => "acting",
            Self::Summary => "summary",
        }
    }

    /// Returns the tool call, if it happened in one.
    #[must_use]
    pub fn tool_call(self) -> Option<&'a ToolUse> {
        match self {
            Self::Acting(call) => Some(call),
            _ => None,
        }
    }
}

/// The value that a hook supplies after a failure.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Substitute {
    /// A message, for a call, a round of reasoning or a summary.
    Message(Msg),
    /// A result, for a tool call.
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
    /// Creates the event, for unit tests of hooks.
    #[must_use]
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        phase: ErrorPhase<'a>,
        error: &'a (dyn Error + Send + Sync + 'static),
    ) -> Self {
        Self { agent, cx, phase, error }
    }

    of_an_event!();

    /// Returns the phase of the failure.
    #[must_use]
    pub fn phase(&self) -> ErrorPhase<'a> {
        self.phase
    }

    /// Returns the error: a [`ToolError`](crate::tool::ToolError) from a tool, otherwise an
    /// [`AgentError`](crate::error::AgentError).
    #[must_use]
    pub fn error(&self) -> &'a (dyn Error + Send + Sync + 'static) {
        self.error
    }

    /// Returns the [kind](AgentError::kind) of the error: the name of its variant, such as `Model` or
    /// `TimedOut`, which contains no text of the error. An error of another crate is an `Error`.
    #[must_use]
    pub fn error_kind(&self) -> &'static str {
        kind_of(self.error)
    }

    /// Returns the name of the hook whose failure this is.
    #[must_use]
    pub fn failed_hook(&self) -> Option<&'a str> {
        let AgentError::Hook(error) = self.error.downcast_ref()? else { return None };
        match error {
            HookError::Failed { hook, .. } | HookError::TimedOut { hook, .. } => Some(hook),
            _ => None,
        }
    }

    /// Recovers with a message, or at [`ErrorPhase::Acting`] with a tool result. The wrong kind for
    /// the phase counts as a failure of the hook.
    pub fn recover(&self, substitute: impl Into<Substitute>) -> Flow {
        Flow::then(Decided::Recover(substitute.into()))
    }
}

/// Returns the variant of an error of this crate. The text of an error may contain secrets, so no
/// part of it is used, not even of `Debug`.
fn kind_of(error: &(dyn Error + Send + Sync + 'static)) -> &'static str {
    if let Some(error) = error.downcast_ref::<AgentError>() {
        return error.kind().name();
    }
    error.downcast_ref::<ToolError>().map_or("Error", |error| error.kind().name())
}

impl fmt::Debug for ErrorEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorEvent")
            .field("phase", &self.phase)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
