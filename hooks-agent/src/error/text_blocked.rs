//! A text that must not be read.

/// A text was blocked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct TextBlocked {
    /// The reason, without the blocked text.
    pub reason: String,
}
