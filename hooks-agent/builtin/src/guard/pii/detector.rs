//! The trait of detectors, which find personal data in a text that may still grow.

use std::borrow::Cow;
use std::ops::Range;

/// Personal data that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PiiMatch {
    /// What it is, such as `email`.
    pub kind: Cow<'static, str>,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

impl PiiMatch {
    /// A match of this kind in this range of bytes.
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, range: Range<usize>) -> Self {
        Self { kind: kind.into(), range }
    }

    /// This match with a range inside of the text, widened to whole characters. Returns `None` if
    /// nothing is left. Guards against wrong ranges of a custom detector.
    #[must_use]
    pub fn fitted(mut self, text: &str) -> Option<Self> {
        let Range { start, end } = self.range;
        if start >= end || start >= text.len() {
            return None;
        }
        self.range = text.floor_char_boundary(start)..text.ceil_char_boundary(end);
        Some(self)
    }
}

/// Finds one or several kinds of personal data.
///
/// A text may arrive in parts. What is found must not depend on how the text was cut, so a detector
/// also says which part of the text is [settled](Self::settled). For any text `a` and any text `b` after
/// it, the matches that start before `settled(a)` are the same in `a` and in `a + b`, with the same ends.
///
/// ```
/// use hooks_agent::builtin::guard::pii::{PiiDetector, PiiMatch};
///
/// /// Ticket numbers: `T-` and digits.
/// struct Ticket;
///
/// impl PiiDetector for Ticket {
///     fn find(&self, text: &str, from: usize) -> Option<PiiMatch> {
///         let start = from + text[from..].find("T-")?;
///         let digits = text[start + 2..].bytes().take_while(u8::is_ascii_digit).count();
///         Some(PiiMatch::new("ticket", start..start + 2 + digits))
///     }
/// }
///
/// let found = Ticket.find("see T-17", 0).unwrap();
/// assert_eq!(found.range, 4..8);
/// // `T-17` may become `T-170`.
/// assert_eq!(Ticket.settled("see T-17", 0), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not find personal data",
    note = "implement `PiiDetector`, or use `PiiPattern` for a regular expression and `PiiCallback` for a closure"
)]
pub trait PiiDetector: Send + Sync {
    /// Returns the first match that starts at `from` or later. `from` is a boundary of characters;
    /// the text before it is context. The match is not empty and ends at boundaries of characters.
    ///
    /// What is found at a place must not depend on `from`, nor on more than the
    /// [`window`](Self::window) before the match.
    fn find(&self, text: &str, from: usize) -> Option<PiiMatch>;

    /// Adds all matches that start at `from` or later, sorted by start. Matches of one detector may
    /// overlap only if it finds several kinds. The default repeats [`find`](Self::find) after the end
    /// of each match.
    fn scan(&self, text: &str, from: usize, found: &mut Vec<PiiMatch>) {
        let mut from = from;
        while from <= text.len() {
            let Some(next) = self.find(text, from).and_then(|found| found.fitted(text)) else {
                return;
            };
            from = next.range.end.max(from);
            found.push(next);
            if from >= text.len() {
                return;
            }
        }
    }

    /// Returns what names the data that is found: a detector that finds other data has another id. By it,
    /// a [hook](crate::guard::PiiDetection) knows after a restart which texts it has searched.
    /// The default is `None`: texts in which another process replaced data are searched again.
    fn id(&self) -> Option<String> {
        None
    }

    /// The most characters at the end of a growing text that may still become or lengthen a match.
    /// The default is 128.
    fn window(&self) -> usize {
        128
    }

    /// Returns the position from which more text may change what is found in `text[from..]`: a boundary
    /// of characters from `from` to `text.len()`. What is before it is final.
    ///
    /// The default is [`window`](Self::window) characters before the end, and before each match that
    /// reaches into these characters.
    fn settled(&self, text: &str, from: usize) -> usize {
        let window = text.char_indices().rev().take(self.window()).last();
        let settled = window.map_or(text.len(), |(at, _)| at).max(from);
        let mut found = Vec::new();
        self.scan(text, from, &mut found);
        let reaching = found.iter().find(|found| found.range.end > settled);
        reaching.map_or(settled, |found| found.range.start.clamp(from, settled))
    }
}
