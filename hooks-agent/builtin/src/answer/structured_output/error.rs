//! Why there is no typed answer.

use hooks_core::HookError;

use crate::answer::structured_output::schema::problem::{Problem, paths};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::message::{GenerateReason, Msg};

/// Why there is no typed answer. Its text names fields and has nothing else of an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredOutputError {
    /// The schema is invalid.
    #[error("the schema of `{name}` is invalid: {reason}")]
    Schema {
        /// The name of the schema.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The name of the tool is invalid.
    #[error("`{name}` is no name of a tool: 1 to 64 letters, digits, `_` and `-` are expected")]
    ToolName {
        /// The name.
        name: String,
    },
    /// A tool of the agent has the name of the tool that takes the answer.
    #[error(
        "the agent has a tool `{tool}`, which is the name of the tool that takes the answer: rename one \
         of them, this one by `StructuredOutputBuilder::tool_name`"
    )]
    ToolExists {
        /// The name.
        tool: String,
    },
    /// The answer does not fit, and neither did those before it.
    #[error("the answer does not fit `{name}` after {attempts} attempts, at: {}", paths(problems))]
    Mismatch {
        /// The name of the schema.
        name: String,
        /// How many answers did not fit.
        attempts: u32,
        /// What is wrong with the last one.
        problems: Vec<Problem>,
    },
    /// The reply does not fit any more: a hook changed it after it was checked.
    #[error("a hook changed the reply, which no longer fits `{name}`, at: {}", paths(problems))]
    Changed {
        /// The name of the schema.
        name: String,
        /// What is wrong with the reply.
        problems: Vec<Problem>,
        /// The reply.
        reply: Box<Msg>,
    },
    /// The call ended before the model finished its answer.
    #[error("there is no answer of the type `{name}`: the call ended with {reason:?}")]
    NoAnswer {
        /// The name of the schema.
        name: String,
        /// Why the call ended.
        reason: GenerateReason,
        /// The reply of the call, with what waits.
        reply: Box<Msg>,
    },
    /// The call failed.
    #[error(transparent)]
    Agent(AgentError),
}

impl StructuredOutputError {
    /// Returns what does not fit, of [`Mismatch`](Self::Mismatch) and [`Changed`](Self::Changed).
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Mismatch { problems, .. } | Self::Changed { problems, .. } => problems,
            _ => &[],
        }
    }

    /// Returns the reply of a call that ended without a typed answer.
    #[must_use]
    pub fn reply(&self) -> Option<&Msg> {
        match self {
            Self::NoAnswer { reply, .. } | Self::Changed { reply, .. } => Some(reply),
            _ => None,
        }
    }
}

/// Takes the error of a [`StructuredOutput`](crate::answer::StructuredOutput) out of that of
/// its call.
impl From<AgentError> for StructuredOutputError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Hook(HookError::Failed { source, .. })
                if source.is::<StructuredOutputError>() =>
            {
                *source.downcast().expect("its type was checked")
            }
            error => Self::Agent(error),
        }
    }
}

impl From<StructuredOutputError> for AgentError {
    fn from(error: StructuredOutputError) -> Self {
        match error {
            StructuredOutputError::Agent(error) => error,
            error => Self::other(error),
        }
    }
}
