//! What can go wrong with an agent.

use std::error::Error;
use std::fmt;

use hooks_core::{BoxError, HookError, RegistryError};

use crate::message::{ToolResult, ToolUse};
use crate::model::ModelError;

/// Why a call of an agent failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The registry of hooks refused a change.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The agent was not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The messages do not fit what the agent waits for. Nothing was remembered.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Hooks jumped back to the model too many times in a row.
    #[error("hooks jumped to the model {limit} times in a row, raise `max_jumps` or let it go on")]
    TooManyJumps {
        /// How many times they may.
        limit: usize,
    },
    /// A call waits for itself.
    #[error(
        "agent `{agent}` is called on thread `{thread}` from inside its own call on that thread, \
         which would wait for itself; use another thread"
    )]
    CallsItself {
        /// The agent's name.
        agent: String,
        /// The thread.
        thread: String,
    },
    /// The context of the conversation could not be compressed.
    #[error("the context could not be compressed")]
    Compression(#[source] BoxError),
    /// What the person types could not be read.
    #[error("the input of user `{user}` could not be read")]
    Read {
        /// The person.
        user: String,
        /// What went wrong.
        source: std::io::Error,
    },
    /// The person has gone.
    #[error("the input of user `{user}` has ended")]
    EndOfInput {
        /// The person.
        user: String,
    },
    /// The call failed, and so did hooks that were told about it.
    #[error(transparent)]
    WithHookFailures(WithHookFailures),
}

/// An error, and the failures of hooks that were told about it; its text and its source are those of
/// the error.
#[derive(Debug)]
pub struct WithHookFailures {
    error: Box<AgentError>,
    failures: Vec<BoxError>,
}

impl fmt::Display for WithHookFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for WithHookFailures {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl InputError {
    /// Whether the results are each of another of the calls.
    pub(crate) fn check_results(calls: &[ToolUse], results: &[&ToolResult]) -> Result<(), Self> {
        for (index, result) in results.iter().enumerate() {
            if results[..index].iter().any(|known| known.id == result.id) {
                return Err(Self::DuplicateResult { id: result.id.clone() });
            }
        }
        let expected: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
        let unknown = results.iter().filter(|result| !expected.contains(&result.id));
        let ids: Vec<_> = unknown.map(|result| result.id.clone()).collect();
        if ids.is_empty() { Ok(()) } else { Err(Self::UnknownResults { ids, expected }) }
    }
}

impl AgentError {
    /// Why the call failed, without what error hooks failed with.
    #[must_use]
    pub fn root(&self) -> &AgentError {
        match self {
            Self::WithHookFailures(with) => with.error.root(),
            error => error,
        }
    }

    /// What hooks that were told about the error failed with.
    #[must_use]
    pub fn hook_failures(&self) -> &[BoxError] {
        match self {
            Self::WithHookFailures(with) => &with.failures,
            _ => &[],
        }
    }

    /// Attaches the failure of a hook that was told about the error.
    pub(crate) fn attach(&mut self, failure: BoxError) {
        if let Self::WithHookFailures(with) = self {
            with.failures.push(failure);
            return;
        }
        // Anything that stands in for the error while it moves into its box.
        let error = std::mem::replace(self, Self::TooManyJumps { limit: 0 });
        let with = WithHookFailures { error: Box::new(error), failures: vec![failure] };
        *self = Self::WithHookFailures(with);
    }
}

/// Why messages do not fit what an agent waits for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The model waits for results of tool calls.
    #[error(
        "tool calls wait for results: {}; give them, call without messages to run the tools, or turn \
         `recover_pending` on", .ids.join(", ")
    )]
    MissingResults {
        /// The ids of the calls.
        ids: Vec<String>,
    },
    /// Some results are there, some are missing, and there is more than results.
    #[error(
        "results are missing for: {}; messages beside results can be taken only once all calls are \
         answered", .ids.join(", ")
    )]
    PartialResults {
        /// The ids of the calls without results.
        ids: Vec<String>,
    },
    /// Two results of one call.
    #[error("two results of the tool call `{id}`, one is allowed")]
    DuplicateResult {
        /// The id of the call.
        id: String,
    },
    /// Results of calls that nobody made.
    #[error(
        "results of unknown tool calls: {}; expected: {}", .ids.join(", "), .expected.join(", ")
    )]
    UnknownResults {
        /// The ids of the results.
        ids: Vec<String>,
        /// The ids of the calls that wait.
        expected: Vec<String>,
    },
    /// A system message among the others.
    #[error(
        "a system message is no part of a conversation, use `system_prompt` or the system message of \
         the event"
    )]
    SystemMessage,
}

/// Why an agent could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model was given.
    #[error("agent `{agent}` has no model, add `.model(..)`")]
    MissingModel {
        /// The agent's name.
        agent: String,
    },
    /// Two tools have the same name.
    #[error("agent `{agent}` has two tools named `{tool}`, rename one of them")]
    DuplicateTool {
        /// The agent's name.
        agent: String,
        /// The name that is taken.
        tool: String,
    },
}
