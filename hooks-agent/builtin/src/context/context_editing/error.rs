//! Why results cannot be cleared.

use hooks_agent_core::model::ContextSizeError;

/// Why a [`ContextEditing`](crate::context::ContextEditing) cannot be built, or does not know when to clear.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextEditingError {
    /// A size is none, or the context window is not known.
    #[error(transparent)]
    Size(#[from] ContextSizeError),
    /// The placeholder is blank, which some providers refuse as a result.
    #[error("the placeholder of a cleared result is empty")]
    NoPlaceholder,
}
