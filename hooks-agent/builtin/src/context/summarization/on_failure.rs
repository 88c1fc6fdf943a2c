//! The policy for calls whose conversation cannot be summarized.

/// What becomes of a call whose conversation cannot be summarized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnSummaryFailure {
    /// The call goes on with the conversation as it is, and reports the failure through `tracing`. The
    /// same call does not try again; the next one does.
    #[default]
    Keep,
    /// The call fails with the [`SummaryError`](crate::context::SummaryError).
    Fail,
}
