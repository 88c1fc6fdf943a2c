//! A copy of a part of a text in the usual form.

use std::ops::Range;

use crate::guard::fold::form::Form;
use crate::guard::fold::unit::{Unit, is_lead, unit};

/// What stands for a line break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Breaks {
    /// Nothing: a word goes on in the next line.
    Joined,
    /// A blank, one with those around it.
    Blank,
    /// A line break: lines stay apart.
    Kept,
}

/// A part of a text in the usual form, with the places of what differs.
pub(crate) struct FoldedText {
    text: Vec<u8>,
    /// Where the copied part starts.
    start: usize,
    units: Vec<Placed>,
    /// Where line breaks are in the text.
    breaks: Vec<usize>,
}

/// A unit in the text, and what stands for it in the copy.
struct Placed {
    text: Range<usize>,
    copy: Range<usize>,
}

impl FoldedText {
    /// Copies a range of a text, which is on boundaries of characters.
    pub(crate) fn new(text: &str, range: Range<usize>, breaks: Breaks) -> Self {
        let mut copy = Self {
            text: Vec::with_capacity(range.len()),
            start: range.start,
            units: Vec::new(),
            breaks: Vec::new(),
        };
        let (bytes, mut copied, mut at) = (text.as_bytes(), range.start, range.start);
        while let Some(ahead) = bytes[at..range.end].iter().position(|byte| is_lead(*byte)) {
            at += ahead;
            // A path of Windows has `\n` and `\t` in it.
            let is_layout =
                bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'));
            let stays = breaks == Breaks::Kept && (bytes[at].is_ascii_control() || is_layout);
            match unit(text, at).filter(|unit| !stays && at + unit.length <= range.end) {
                Some(unit) => {
                    copy.text.extend_from_slice(&bytes[copied..at]);
                    copy.push(at, unit, breaks);
                    at += unit.length;
                    copied = at;
                }
                None => at += 1,
            }
        }
        copy.text.extend_from_slice(&bytes[copied..range.end]);
        copy
    }

    fn push(&mut self, at: usize, unit: Unit, breaks: Breaks) {
        let start = self.text.len();
        match unit.form {
            Form::Break => {
                self.breaks.push(at);
                match breaks {
                    Breaks::Kept => self.text.push(b'\n'),
                    Breaks::Blank if self.text.last() != Some(&b' ') => self.text.push(b' '),
                    _ => {}
                }
            }
            form => self.text.extend_from_slice(form.bytes()),
        }
        let (text, copy) = (at..at + unit.length, start..self.text.len());
        self.units.push(Placed { text, copy });
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Whether it differs from the text.
    pub(crate) fn differs(&self) -> bool {
        !self.units.is_empty()
    }

    pub(crate) fn has_breaks(&self) -> bool {
        !self.breaks.is_empty()
    }

    /// The first byte of the copy that stands at `at` in the text or later.
    pub(crate) fn from(&self, at: usize) -> usize {
        let before = self.units.partition_point(|unit| unit.text.start < at);
        match before.checked_sub(1).map(|last| &self.units[last]) {
            None => at.saturating_sub(self.start),
            Some(unit) => unit.copy.end + at.saturating_sub(unit.text.end),
        }
    }

    /// Where in the text a range of the copy is, which is not empty.
    pub(crate) fn place(&self, range: &Range<usize>) -> Range<usize> {
        self.byte(range.start).start..self.byte(range.end - 1).end
    }

    /// What a byte of the copy stands for in the text.
    fn byte(&self, at: usize) -> Range<usize> {
        let before = self.units.partition_point(|unit| unit.copy.start <= at);
        // Of units that stand for nothing, the last one is the closest.
        match before.checked_sub(1).map(|last| &self.units[last]) {
            None => self.start + at..self.start + at + 1,
            Some(unit) if at < unit.copy.end => unit.text.clone(),
            Some(unit) => {
                let start = unit.text.end + at - unit.copy.end;
                start..start + 1
            }
        }
    }

    /// Whether a unit is in a range of the text, or touches it.
    pub(crate) fn has_units(&self, range: &Range<usize>) -> bool {
        let next = self.units.partition_point(|unit| unit.text.end < range.start);
        self.units.get(next).is_some_and(|unit| unit.text.start <= range.end)
    }

    /// How many line breaks are in a range of the text.
    pub(crate) fn breaks_in(&self, range: &Range<usize>) -> usize {
        let before = |at: usize| self.breaks.partition_point(|place| *place < at);
        before(range.end) - before(range.start)
    }
}

#[cfg(test)]
mod tests {
    use crate::guard::fold::text::{Breaks, FoldedText};

    #[test]
    fn what_is_found_in_a_copy_has_its_place_in_the_text() {
        let text = "an\u{200b}a&#64;ｅx.\n  com, é";
        let copy = FoldedText::new(text, 0..text.len(), Breaks::Joined);
        assert_eq!(std::str::from_utf8(copy.text()).unwrap(), "ana@ex.com, é");
        let place = copy.place(&(0..10));
        assert_eq!(&text[place.clone()], "an\u{200b}a&#64;ｅx.\n  com");
        assert_eq!(copy.breaks_in(&place), 1);
        let blank = FoldedText::new("12 \n34", 0..6, Breaks::Blank);
        assert_eq!(blank.text(), b"12 34");
    }
}
