//! What can go wrong with a tool.

use std::time::Duration;

use hooks_core::{BoxError, HookError};

/// Why a tool call has no output. The model gets to read its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool returned an error.
    #[error("{0}")]
    Failed(#[source] BoxError),
    /// The tool panicked.
    #[error("the tool `{tool}` panicked")]
    Panicked {
        /// The tool.
        tool: String,
    },
    /// The tool took longer than it may.
    #[error("the tool `{tool}` took longer than {after:?}")]
    TimedOut {
        /// The tool.
        tool: String,
        /// How long it may take.
        after: Duration,
    },
    /// There is no tool of that name.
    #[error("no tool named `{tool}`, there are: {}", known.join(", "))]
    Unknown {
        /// The name that the model asked for.
        tool: String,
        /// The names that it may ask for.
        known: Vec<String>,
    },
    /// The arguments are not what a tool takes.
    #[error(
        "the arguments of `{tool}` are not a JSON object: {written}; write an object that fits its \
         schema"
    )]
    InvalidInput {
        /// The tool.
        tool: String,
        /// What the model wrote.
        written: String,
    },
    /// A hook at the tool call failed. It fails the call of the agent; the model does not read it.
    #[error(transparent)]
    Hook(#[from] HookError),
}
