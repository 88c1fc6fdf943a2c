//! The trait `Find`, which searches a text that grows, and its findings.

use std::ops::Range;

use crate::model::rewrite::used::Used;

/// A range of a text to replace or block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Replaces the range.
    Replace {
        /// The bytes of the text; not empty, on character boundaries.
        range: Range<usize>,
        /// The replacement.
        text: String,
    },
    /// Ends the text before the range; of a model's answer with
    /// [`ModelError::Blocked`](crate::model::ModelError::Blocked).
    Block {
        /// The bytes of the text; not empty, on character boundaries.
        range: Range<usize>,
        /// The reason, without the text of the range.
        reason: String,
    },
}

impl Finding {
    /// Returns the bytes of the text.
    #[must_use]
    pub fn range(&self) -> &Range<usize> {
        match self {
            Self::Replace { range, .. } | Self::Block { range, .. } => range,
        }
    }
}

/// Finds what a [`Rewriter`](crate::model::Rewriter) replaces or blocks, in a text that grows.
///
/// The result does not depend on how a text is cut into chunks, provided that `settled` is right:
/// text after it changes nothing before it.
///
/// ```
/// use hooks_agent::model::{Find, Finding, Rewriter};
///
/// /// Replaces numbers, however long they are.
/// struct Numbers;
///
/// impl Find for Numbers {
///     fn find(&self, text: &str, from: usize) -> Option<Finding> {
///         let start = from + text[from..].find(|c: char| c.is_ascii_digit())?;
///         let rest = &text[start..];
///         let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
///         Some(Finding::Replace { range: start..start + length, text: "#".to_owned() })
///     }
///
///     // Digits at the end may be followed by others.
///     fn settled(&self, text: &str, _: usize) -> usize {
///         text.trim_end_matches(|c: char| c.is_ascii_digit()).len()
///     }
/// }
///
/// assert_eq!(Rewriter::new(Numbers).text("from 12 to 3456"), Ok("from # to #".to_owned()));
/// ```
pub trait Find: Send + Sync + 'static {
    /// Returns the first finding that starts at `from` or later. What stands before `from` is there
    /// for context, such as the start of a word. A finding outside of the text after `from` blocks the
    /// text: a finder that returns one may also have missed others.
    fn find(&self, text: &str, from: usize) -> Option<Finding>;

    /// Returns the position up to which more text changes nothing: no finding that starts before it
    /// appears, grows or goes. At most the length of the text. What was before `from` has been
    /// emitted.
    fn settled(&self, text: &str, from: usize) -> usize;

    /// Returns what becomes of a finding that is final, and is used: a replacement that has an effect,
    /// such as a token for a value that is kept, is made here. `found` is the found text. The range
    /// stays. A text may be searched several times, and this runs once for each finding of it.
    ///
    /// The default returns the finding as it is.
    fn settle(&self, found: &str, finding: Finding) -> Finding {
        let _ = found;
        finding
    }

    /// Notes a finding that was used, for counts: once for each part of a text that was replaced, and once for
    /// a text that was blocked. A panic has no effect. The default does nothing.
    fn used(&self, used: &Used<'_>) {
        let _ = used;
    }
}

/// Findings that depend on a limited number of characters after their start.
pub(super) struct Within<F> {
    pub(super) window: usize,
    pub(super) find: F,
}

impl<F: Fn(&str, usize) -> Option<Finding> + Send + Sync + 'static> Find for Within<F> {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        (self.find)(text, from)
    }

    fn settled(&self, text: &str, _: usize) -> usize {
        if self.window == 0 {
            return text.len();
        }
        text.char_indices().rev().take(self.window).last().map_or(0, |(index, _)| index)
    }
}
