//! What can go wrong with an agent.

use hooks_core::HookError;

use crate::model::ModelError;

/// Why a call of an agent failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The agent was not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The model wanted tools in every round that it was allowed.
    #[error("no answer after {limit} rounds of reasoning, raise `max_iters` or narrow the task")]
    MaxIterations {
        /// How many rounds were allowed.
        limit: usize,
    },
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
