//! Errors of agents.

use std::error::Error;
use std::fmt;

use hooks_core::{BoxError, HookError, RegistryError};

use crate::message::{ToolResult, ToolUse};
use crate::model::ModelError;

/// The error of a call of an agent.
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
    /// The agent could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The messages of the call are invalid. Memory is unchanged.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Hooks jumped to the model or to the tools too many times in a row.
    #[error("hooks jumped to the model {limit} times in a row, raise `max_jumps` or let it go on")]
    TooManyJumps {
        /// The limit.
        limit: usize,
    },
    /// A call would wait for itself.
    #[error(
        "agent `{agent}` is called on thread `{thread}` from inside its own call on that thread, \
         which would wait for itself; use another thread"
    )]
    CallsItself {
        /// The name of the agent.
        agent: String,
        /// The thread.
        thread: String,
    },
    /// The conversation could not be compressed.
    #[error("the context could not be compressed")]
    Compression(#[source] BoxError),
    /// The input of the user could not be read.
    #[error("the input of user `{user}` could not be read")]
    Read {
        /// The name of the user.
        user: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The input of the user has ended.
    #[error("the input of user `{user}` has ended")]
    EndOfInput {
        /// The name of the user.
        user: String,
    },
    /// The call failed, and so did error hooks that handled its error.
    #[error(transparent)]
    WithHookFailures(WithHookFailures),
}

/// An error, and the failures of error hooks that handled it. Its text and its source are those of
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
    /// Checks that each result belongs to a different one of the tool calls.
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
    /// Returns the error of the call, without the failures of error hooks.
    #[must_use]
    pub fn root(&self) -> &AgentError {
        match self {
            Self::WithHookFailures(with) => with.error.root(),
            error => error,
        }
    }

    /// Returns the failures of the error hooks that handled the error.
    #[must_use]
    pub fn hook_failures(&self) -> &[BoxError] {
        match self {
            Self::WithHookFailures(with) => &with.failures,
            _ => &[],
        }
    }

    /// Attaches the failure of an error hook.
    pub(crate) fn attach(&mut self, failure: BoxError) {
        if let Self::WithHookFailures(with) = self {
            with.failures.push(failure);
            return;
        }
        // A placeholder while the error moves into its box.
        let error = std::mem::replace(self, Self::TooManyJumps { limit: 0 });
        let with = WithHookFailures { error: Box::new(error), failures: vec![failure] };
        *self = Self::WithHookFailures(with);
    }
}

/// The error of invalid messages: their tool results do not match the tool calls of the thread, or
/// one of them is a system message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Tool calls wait for results.
    #[error(
        "tool calls wait for results: {}; give them, call without messages to run the tools, or turn \
         `recover_pending` on", .ids.join(", ")
    )]
    MissingResults {
        /// The ids of the tool calls.
        ids: Vec<String>,
    },
    /// Some results are missing, and there are other messages than results.
    #[error(
        "results are missing for: {}; messages beside results can be taken only once all calls are \
         answered", .ids.join(", ")
    )]
    PartialResults {
        /// The ids of the tool calls without results.
        ids: Vec<String>,
    },
    /// Two results are for the same tool call.
    #[error("two results of the tool call `{id}`, one is allowed")]
    DuplicateResult {
        /// The id of the tool call.
        id: String,
    },
    /// Results are for unknown tool calls.
    #[error(
        "results of unknown tool calls: {}; expected: {}", .ids.join(", "), .expected.join(", ")
    )]
    UnknownResults {
        /// The ids of the results.
        ids: Vec<String>,
        /// The ids of the tool calls that wait.
        expected: Vec<String>,
    },
    /// One of the messages is a system message.
    #[error(
        "a system message is no part of a conversation, use `system_prompt` or the system message of \
         the event"
    )]
    SystemMessage,
}

/// The error of an agent that could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model was given.
    #[error("agent `{agent}` has no model, add `.model(..)`")]
    MissingModel {
        /// The name of the agent.
        agent: String,
    },
    /// Two tools have the same name.
    #[error("agent `{agent}` has two tools named `{tool}`, rename one of them")]
    DuplicateTool {
        /// The name of the agent.
        agent: String,
        /// The duplicate name.
        tool: String,
    },
}
