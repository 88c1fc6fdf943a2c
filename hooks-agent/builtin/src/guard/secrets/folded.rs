//! Searches for secrets in copies of what is written in another form.

use std::ops::Range;

use crate::guard::fold::{self, Breaks, FoldedText, Form};
use crate::guard::secrets::scanner::Match;

/// How many bytes before the first unit and behind the last one a copy has.
const AROUND: usize = 640;
/// The most bytes of a word.
const WORD: usize = 4096;

/// The copies that were searched.
#[derive(Default)]
pub(super) struct Copies {
    /// Units before this place were searched around.
    until: usize,
}

impl Copies {
    /// Searches around the units in a block of the text, and adds what has units in it.
    pub(super) fn search(
        &mut self,
        text: &str,
        block: Range<usize>,
        parse: impl Fn(&[u8]) -> Vec<Match>,
        found: &mut Vec<Match>,
    ) {
        let bytes = text.as_bytes();
        let mut at = block.start.max(self.until);
        while let Some(ahead) =
            bytes[at.min(block.end)..block.end].iter().position(|it| fold::is_lead(*it))
        {
            at += ahead;
            let Some(unit) = fold::unit(text, at) else {
                at += 1;
                continue;
            };
            if matches!(unit.form, Form::Break) && bytes[at].is_ascii_whitespace() {
                at += unit.length;
                continue;
            }
            let end = text.ceil_char_boundary((at + AROUND).min(text.len()));
            let start = text.floor_char_boundary(at.saturating_sub(AROUND));
            let copy = FoldedText::new(text, start..end, Breaks::Blank);
            for (rank, range) in parse(copy.text()) {
                let place = copy.place(&range);
                if copy.has_units(&place) {
                    found.push((rank, place));
                }
            }
            // The next copy begins where this one may have been cut.
            at = (at + AROUND / 2).max(at + unit.length);
        }
        self.until = at.max(self.until);
    }
}

/// The start of the word that a text ends with: what has no blank in it, and no letters of other scripts.
pub(super) fn last_word(text: &str, from: usize) -> usize {
    let least = text.floor_char_boundary(text.len().saturating_sub(WORD)).max(from);
    let mut start = text.len();
    for (at, char) in text[least..].char_indices().rev() {
        let at = least + at;
        let is_between = match char {
            char if char.is_ascii() => char.is_ascii_whitespace(),
            _ => fold::unit(text, at).is_none(),
        };
        if is_between {
            break;
        }
        start = at;
    }
    start
}
