//! A text that must not be read.

/// A text was blocked.
///
/// ```
/// use hooks_agent::hook::TextBlocked;
///
/// assert_eq!(TextBlocked::new("it names a customer").to_string(), "it names a customer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct TextBlocked {
    /// The reason, without the blocked text.
    pub reason: String,
}

impl TextBlocked {
    /// Creates the error, with a reason that has nothing of the text.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
