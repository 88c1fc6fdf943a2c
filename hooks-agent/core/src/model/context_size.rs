//! The size of a conversation.

use std::fmt;

use crate::message::Messages;
use crate::model::token_counter::TokenCounter;

/// The size of a conversation: when a hook makes it shorter, and how much of it stays.
///
/// ```
/// use hooks_agent::model::ContextSize;
///
/// assert!(ContextSize::Fraction(0.8).check().is_ok());
/// let error = ContextSize::Fraction(1.5).check().unwrap_err();
/// assert_eq!(error.to_string(), "a fraction of the context window is above 0 and at most 1, not 1.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContextSize {
    /// A number of messages.
    Messages(usize),
    /// A number of tokens.
    Tokens(u64),
    /// A fraction of the context window of the model, above 0 and at most 1.
    Fraction(f64),
}

/// Why a size is not one.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextSizeError {
    /// The number of messages or tokens is 0.
    #[error("a size in messages or tokens is at least 1")]
    Zero,
    /// The fraction is not above 0 and at most 1.
    #[error("a fraction of the context window is above 0 and at most 1, not {0}")]
    Fraction(f64),
    /// The size is a fraction, and the context window of the model is not known.
    #[error(
        "a fraction of an unknown context window: set it at the model (`with_context_window`) or at the hook"
    )]
    UnknownWindow,
}

impl ContextSize {
    /// Checks that the size is one.
    ///
    /// # Errors
    /// [`ContextSizeError::Zero`] or [`ContextSizeError::Fraction`].
    pub fn check(self) -> Result<(), ContextSizeError> {
        match self {
            Self::Messages(0) | Self::Tokens(0) => Err(ContextSizeError::Zero),
            Self::Fraction(share) if !(share > 0.0 && share <= 1.0) => {
                Err(ContextSizeError::Fraction(share))
            }
            _ => Ok(()),
        }
    }

    /// Returns the size in tokens, or `None` for a number of messages. A fraction is rounded down.
    ///
    /// # Errors
    /// [`ContextSizeError::UnknownWindow`] for a fraction without a window.
    pub fn tokens(self, window: Option<u64>) -> Result<Option<u64>, ContextSizeError> {
        match self {
            Self::Messages(_) => Ok(None),
            Self::Tokens(tokens) => Ok(Some(tokens)),
            Self::Fraction(share) => {
                let window = window.ok_or(ContextSizeError::UnknownWindow)?;
                Ok(Some(part(window, share)))
            }
        }
    }

    /// Returns whether messages reach the size.
    ///
    /// # Errors
    /// [`ContextSizeError::UnknownWindow`] for a fraction without a window.
    pub fn is_reached(
        self,
        messages: &Messages,
        counter: &TokenCounter,
        window: Option<u64>,
    ) -> Result<bool, ContextSizeError> {
        Ok(match (self, self.tokens(window)?) {
            (Self::Messages(count), _) => messages.len() >= count,
            (_, Some(tokens)) => counter.count(messages) >= tokens,
            (_, None) => false,
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "windows are far below 2^52, and the share is at most 1"
)]
fn part(window: u64, share: f64) -> u64 {
    (window as f64 * share) as u64
}

impl fmt::Display for ContextSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages(count) => write!(f, "{count} messages"),
            Self::Tokens(count) => write!(f, "{count} tokens"),
            Self::Fraction(share) => write!(f, "{share} of the context window"),
        }
    }
}
