//! Why there is no summary.

use hooks_agent_core::hook::HookModelError;

/// Why a model did not write a summary.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The model failed.
    #[error("the conversation was not summarized")]
    Model(#[from] HookModelError),
    /// The model answered with a tool call or without text.
    #[error("model `{model}` wrote no summary")]
    NoText {
        /// The name of the model.
        model: String,
    },
}
