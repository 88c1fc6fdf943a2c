//! The settings of a hook.

use std::time::Duration;

/// What happens if a search fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFailure {
    /// The call fails. An answer without the documents looks like one that is taken from them.
    #[default]
    Fail,
    /// The model answers without passages and reads that the search failed; the error is reported
    /// through `tracing`.
    Continue,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) limit: usize,
    pub(super) threshold: f32,
    pub(super) timeout: Option<Duration>,
    pub(super) on_failure: OnFailure,
    pub(super) as_tool: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 5,
            threshold: 0.5,
            timeout: None,
            on_failure: OnFailure::Fail,
            as_tool: false,
        }
    }
}
