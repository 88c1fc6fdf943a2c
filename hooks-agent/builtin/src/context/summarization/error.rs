//! Why a hook that summarizes cannot be built.

use hooks_agent_core::model::ContextSizeError;

/// Why a [`Summarization`](crate::context::Summarization) cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SummarizationError {
    /// A size is none.
    #[error(transparent)]
    Size(#[from] ContextSizeError),
    /// The prompt is blank.
    #[error("the prompt of the summary is empty")]
    NoPrompt,
}
