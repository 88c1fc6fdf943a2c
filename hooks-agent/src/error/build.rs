//! The error of an agent that could not be built.

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
