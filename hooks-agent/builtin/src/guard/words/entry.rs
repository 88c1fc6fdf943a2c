//! A word of a list, and the blanks in it.

use crate::guard::words::fold::Folded;
use crate::guard::words::trail::Trail;

/// The most invisible characters in a row inside of a word.
const INVISIBLE: usize = 16;

/// A folded word. It is searched for without its blanks, which are compared then.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Without blanks; first, so that words are sorted by it.
    plain: String,
    text: String,
    /// Where blanks are in `plain`.
    blanks: Vec<usize>,
}

/// Blanks and invisible characters between two visible ones.
#[derive(Clone, Copy, Default)]
pub(super) struct Gap {
    at: usize,
    has_blank: bool,
    invisible: usize,
}

impl Gap {
    /// Adds a blank or an invisible character before what is folded at `at`.
    pub(super) fn add(gaps: &mut Vec<Self>, at: usize, folded: Folded) {
        if gaps.last().is_none_or(|gap| gap.at != at) {
            gaps.push(Self { at, ..Self::default() });
        }
        if let Some(gap) = gaps.last_mut() {
            gap.grow(folded);
        }
    }

    pub(super) fn grow(&mut self, folded: Folded) {
        self.has_blank |= folded == Folded::Blank;
        self.invisible += usize::from(folded == Folded::Ignored);
    }

    /// Returns whether it may be where a word has a blank, or where it has none.
    fn fits(&self, is_blank: bool) -> bool {
        if is_blank {
            return self.has_blank || self.invisible > 0;
        }
        !self.has_blank && self.invisible <= INVISIBLE
    }
}

impl Entry {
    /// Creates the word of a folded text, which has single spaces between visible characters.
    pub(super) fn new(text: String) -> Self {
        let (mut plain, mut blanks) = (String::with_capacity(text.len()), Vec::new());
        for char in text.chars() {
            if char == ' ' {
                blanks.push(plain.len());
            } else {
                plain.push(char);
            }
        }
        Self { plain, text, blanks }
    }

    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the start of the word in a text of which the last characters are these, if its blanks are
    /// there.
    pub(super) fn start(&self, trail: &Trail) -> Option<usize> {
        let (mut rest, mut gap) = (self.plain.len(), Gap::default());
        for visible in trail.backwards() {
            if !gap.fits(self.has_blank(rest)) {
                return None;
            }
            gap = visible.gap;
            rest = rest.checked_sub(visible.length)?;
            if rest == 0 {
                return Some(visible.start);
            }
        }
        None
    }

    /// Returns whether a text may go on with the rest of the word, of which it has `length` bytes
    /// from `from` on, with these gaps.
    pub(super) fn may_follow(&self, length: usize, from: usize, gaps: &[Gap]) -> bool {
        let inside = gaps.iter().filter(|gap| gap.at > from);
        let mut missing = self.blanks.iter().filter(|blank| **blank < length);
        inside.clone().all(|gap| gap.fits(self.has_blank(gap.at - from)))
            && missing.all(|blank| inside.clone().any(|gap| gap.at - from == *blank))
    }

    fn has_blank(&self, at: usize) -> bool {
        self.blanks.binary_search(&at).is_ok()
    }
}
