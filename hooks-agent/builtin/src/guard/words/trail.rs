//! The last characters of a text that is searched.

use crate::guard::words::entry::Gap;
use crate::guard::words::fold::{Folded, folded_length};

/// A visible character, and what is between it and the one before.
pub(super) struct Visible {
    pub(super) start: usize,
    /// The bytes of the folded character.
    pub(super) length: usize,
    pub(super) gap: Gap,
}

/// The last visible characters, as many as a word may have.
pub(super) struct Trail {
    visible: Vec<Visible>,
    gap: Gap,
    most: usize,
}

impl Trail {
    /// Keeps at least so many characters.
    pub(super) fn new(most: usize) -> Self {
        Self { visible: Vec::new(), gap: Gap::default(), most }
    }

    pub(super) fn clear(&mut self) {
        self.visible.clear();
        self.gap = Gap::default();
    }

    /// Adds the next character of the text.
    pub(super) fn push(&mut self, start: usize, folded: Folded) {
        if matches!(folded, Folded::Blank | Folded::Ignored) {
            self.gap.grow(folded);
            return;
        }
        if self.visible.len() >= 2 * self.most {
            self.visible.drain(..self.most);
        }
        let (length, gap) = (folded_length(folded), std::mem::take(&mut self.gap));
        self.visible.push(Visible { start, length, gap });
    }

    pub(super) fn backwards(&self) -> impl Iterator<Item = &Visible> {
        self.visible.iter().rev()
    }
}
