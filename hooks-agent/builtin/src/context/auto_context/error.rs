//! The errors of `AutoContext`.

use hooks_agent_core::model::ContextSizeError;

/// Why an [`AutoContext`](crate::context::AutoContext) cannot be built, or a request is not sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AutoContextError {
    /// A size is none, or the context window is not known.
    #[error(transparent)]
    Size(#[from] ContextSizeError),
    /// The budget is a number of messages.
    #[error("a budget is in tokens or a fraction of the context window")]
    BudgetOfMessages,
    /// The request does not fit into the context window, after everything was done to shorten it.
    #[error(
        "the request has about {tokens} tokens, {over} more than the {window} of the context window, after \
         all that may be shortened"
    )]
    TooLong {
        /// The tokens of the request, by the counter.
        tokens: u64,
        /// The context window, or the budget if the window is not known.
        window: u64,
        /// How many tokens are too many.
        over: u64,
    },
}
