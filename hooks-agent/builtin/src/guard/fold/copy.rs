//! A copy of a part of a text in the usual form.

use std::ops::Range;

use crate::guard::fold::unit::{Form, unit};

/// What stands for a line break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Breaks {
    /// Nothing: a word goes on in the next line.
    Joined,
    /// A blank, one with those around it.
    Blank,
}

/// A part of a text in the usual form, with the place of each byte.
pub(crate) struct Copy {
    text: Vec<u8>,
    /// Where in the text what stands for each byte is.
    places: Vec<(usize, usize)>,
    /// Where units are in the text.
    units: Vec<(usize, usize)>,
    /// Where line breaks are.
    breaks: Vec<usize>,
}

impl Copy {
    /// Copies a range of a text, which is on boundaries of characters.
    pub(crate) fn new(text: &str, range: Range<usize>, breaks: Breaks) -> Self {
        let length = range.len();
        let mut copy = Self {
            text: Vec::with_capacity(length),
            places: Vec::with_capacity(length),
            units: Vec::new(),
            breaks: Vec::new(),
        };
        let mut at = range.start;
        while at < range.end {
            let Some(unit) = unit(text, at) else {
                let end = text.ceil_char_boundary(at + 1);
                // A letter with a mark is more than one byte, and whole.
                for byte in &text.as_bytes()[at..end] {
                    copy.push(*byte, at, end);
                }
                at = end;
                continue;
            };
            let end = at + unit.length;
            copy.units.push((at, end));
            match unit.form {
                Form::Nothing => {}
                Form::Break => {
                    copy.breaks.push(at);
                    if breaks == Breaks::Blank && copy.text.last() != Some(&b' ') {
                        copy.push(b' ', at, end);
                    }
                }
                form @ Form::Ascii(..) => {
                    for byte in form.bytes() {
                        copy.push(*byte, at, end);
                    }
                }
            }
            at = end;
        }
        copy
    }

    fn push(&mut self, byte: u8, start: usize, end: usize) {
        self.text.push(byte);
        self.places.push((start, end));
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn has_breaks(&self) -> bool {
        !self.breaks.is_empty()
    }

    /// The first byte of the copy that stands at `at` in the text or later.
    pub(crate) fn from(&self, at: usize) -> usize {
        self.places.partition_point(|(start, _)| *start < at)
    }

    /// Where in the text a range of the copy is, which is not empty.
    pub(crate) fn place(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (first, last) =
            (self.places.get(range.start)?, self.places.get(range.end.checked_sub(1)?)?);
        Some(first.0..last.1)
    }

    /// Whether a unit is in a range of the text, or touches it.
    pub(crate) fn has_units(&self, range: &Range<usize>) -> bool {
        let next = self.units.partition_point(|(_, end)| *end < range.start);
        self.units.get(next).is_some_and(|(start, _)| *start <= range.end)
    }

    /// How many line breaks are in a range of the text.
    pub(crate) fn breaks_in(&self, range: &Range<usize>) -> usize {
        self.breaks.iter().filter(|at| range.contains(at)).count()
    }
}

#[cfg(test)]
mod tests {
    use crate::guard::fold::copy::{Breaks, Copy};

    #[test]
    fn what_is_found_in_a_copy_has_its_place_in_the_text() {
        let text = "an\u{200b}a&#64;ｅx.\n  com, é";
        let copy = Copy::new(text, 0..text.len(), Breaks::Joined);
        assert_eq!(std::str::from_utf8(copy.text()).unwrap(), "ana@ex.com, é");
        let place = copy.place(&(0..10)).unwrap();
        assert_eq!(&text[place.clone()], "an\u{200b}a&#64;ｅx.\n  com");
        assert_eq!(copy.breaks_in(&place), 1);
        let blank = Copy::new("12 \n34", 0..6, Breaks::Blank);
        assert_eq!(blank.text(), b"12 34");
    }
}
