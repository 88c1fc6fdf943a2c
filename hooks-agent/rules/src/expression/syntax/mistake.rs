//! Mistakes in expressions, with their places.

use std::fmt;

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The place in the expression, in bytes.
    pub(crate) at: usize,
    message: String,
}

impl Mistake {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// Returns the mistake with its place in the expression.
    pub(crate) fn in_text<'a>(&'a self, text: &'a str) -> impl fmt::Display {
        let before = text.get(..self.at).unwrap_or(text);
        let column = before.chars().count() + 1;
        format!("{}, at character {column}", self.message)
    }
}
