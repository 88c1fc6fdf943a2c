//! Errors of tools.

use std::time::Duration;

use hooks_core::{BoxError, HookError};

use crate::message::{Asker, PendingCall, Question};
use crate::report::ErrorReport;
use crate::store::{QuotaExceeded, StoreError};

/// The error of a tool call. The model reads its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool returned an error.
    #[error(transparent)]
    Failed(BoxError),
    /// The tool panicked.
    #[error("the tool `{tool}` panicked")]
    Panicked {
        /// The name of the tool.
        tool: String,
    },
    /// The tool exceeded its timeout.
    #[error("the tool `{tool}` took longer than {after:?}")]
    TimedOut {
        /// The name of the tool.
        tool: String,
        /// The timeout.
        after: Duration,
    },
    /// There is no tool of this name.
    #[error("no tool named `{tool}`, there are: {}", known.join(", "))]
    Unknown {
        /// The name in the tool call.
        tool: String,
        /// The names of the agent's tools.
        known: Vec<String>,
    },
    /// A hook around the tool call changed it into one that lacks permission, or that fails a
    /// [check](crate::hook::NextTool::run_checked) of another hook, so the tool does not run. A hook of [`PreActing`](crate::event::PreActing) changes it before the user is asked.
    #[error("the call of `{tool}` is not permitted: {reason}")]
    Denied {
        /// The name of the tool.
        tool: String,
        /// The reason.
        reason: String,
    },
    /// A quota that a hook around the tool call [reserves](crate::hook::NextTool::run_reserved) is used up, so the
    /// tool does not run.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The arguments are not a JSON object.
    #[error(
        "the arguments of `{tool}` are not a JSON object: {written}; write an object that fits its \
         schema"
    )]
    InvalidInput {
        /// The name of the tool.
        tool: String,
        /// The arguments as the model wrote them.
        written: String,
    },
    /// The tool waits for an answer of the user, which the call of the agent asks for.
    ///
    /// A tool that runs an agent of its own returns it as its error;
    /// [`AgentTool`](crate::react::AgentTool) does. Error hooks of events do not receive it.
    #[error("the tool waits for {} answers of the user", pending.len())]
    Waiting {
        /// What waits, by the ids of the caller: see
        /// [`PendingCall::id`](crate::message::PendingCall::id).
        pending: Vec<PendingCall>,
    },
    /// A hook around the tool call [asks](crate::hook::NextTool::ask) people about it. The call of the agent ends, and
    /// the tool call waits; when they let it run, the hook receives it again.
    #[error("people are asked about the call of `{tool}`")]
    #[non_exhaustive]
    Asks {
        /// The name of the tool.
        tool: String,
        /// Who asks, and why.
        asker: Box<Asker>,
        /// What they are asked.
        question: Box<Question>,
    },
    /// The call of the agent is interrupted, so the tool does not start.
    #[error("the call is interrupted")]
    Interrupted,
    /// The tool runs an agent whose call ended because the agent that uses it
    /// [shuts down](crate::agent::AgentExt::shutdown). This ends the call of that agent too; the model
    /// does not read it.
    #[error("agent `{agent}` shuts down")]
    ShutDown {
        /// The name of the agent.
        agent: String,
    },
    /// The start of the tool could not be stored, so the tool did not run. This fails the call of the
    /// agent; the model does not read it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A hook of the tool call failed. This fails the call of the agent; the model does not read
    /// it.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// A hook of the tool call failed in an earlier process, which recorded the error; made by
    /// `ToolError::from` of an [`ErrorReport`](crate::error::ErrorReport). This fails the call of the
    /// agent like [`Hook`](Self::Hook).
    #[error(transparent)]
    Recorded(ErrorReport),
}

impl ToolError {
    /// Returns whether the error ends the call of the agent. Every other one becomes a result that the model
    /// reads.
    ///
    /// ```
    /// use hooks_agent::tool::ToolError;
    ///
    /// assert!(ToolError::Interrupted.ends_call());
    /// assert!(!ToolError::Failed("no such file".into()).ends_call());
    /// ```
    #[must_use]
    pub fn ends_call(&self) -> bool {
        match self {
            Self::Hook(_)
            | Self::Recorded(_)
            | Self::Store(_)
            | Self::Waiting { .. }
            | Self::Asks { .. }
            | Self::Interrupted
            | Self::ShutDown { .. } => true,
            Self::Failed(_)
            | Self::Panicked { .. }
            | Self::TimedOut { .. }
            | Self::Unknown { .. }
            | Self::Denied { .. }
            | Self::Quota(_)
            | Self::InvalidInput { .. } => false,
        }
    }

    /// Returns whether something failed. Nothing has where the call waits for people, is interrupted or shuts
    /// down.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !matches!(
            self,
            Self::Waiting { .. } | Self::Asks { .. } | Self::Interrupted | Self::ShutDown { .. }
        )
    }
}
