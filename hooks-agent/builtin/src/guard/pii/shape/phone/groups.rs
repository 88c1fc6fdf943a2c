//! Digits in groups, as telephone numbers are written.

use crate::guard::pii::shape::bytes::get;

/// The most digits of an international number, from E.164, and of the prefix `00`.
pub(crate) const DIGITS: usize = 15 + 2;
const GROUPS: usize = 8;
/// The most bytes: digits, three separators after each group, `+`, `(0)`, an extension, and what is behind.
pub(crate) const LONGEST: usize = DIGITS + 3 * GROUPS + 16;

/// Digits in groups, as they are read from a text.
#[derive(Default)]
pub(crate) struct Groups {
    pub(crate) digits: [u8; DIGITS],
    pub(crate) count: usize,
    pub(crate) lengths: [u8; GROUPS],
    /// What stands after each group.
    pub(crate) separators: [Separator; GROUPS],
    pub(crate) groups: usize,
    /// Whether the first group is in parentheses.
    pub(crate) in_parentheses: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Separator {
    #[default]
    None,
    Space,
    Dash,
    Dot,
    Slash,
    /// A parenthesis opens or closes, with a space or a dash or alone.
    Parenthesis,
}

impl Groups {
    pub(crate) fn digits(&self) -> &[u8] {
        &self.digits[..self.count]
    }

    pub(crate) fn lengths(&self) -> &[u8] {
        &self.lengths[..self.groups]
    }

    /// The separators between the groups.
    pub(crate) fn separators(&self) -> &[Separator] {
        &self.separators[..self.groups.saturating_sub(1)]
    }

    /// Reads the group at `start`. Returns its end, or `None` if it is too long or one too many.
    pub(crate) fn push(&mut self, text: &[u8], start: usize) -> Option<usize> {
        let mut end = start;
        *self.lengths.get_mut(self.groups)? = 0;
        while let Some(digit) = get(text, end).filter(u8::is_ascii_digit) {
            *self.digits.get_mut(self.count)? = digit;
            self.count += 1;
            self.lengths[self.groups] += 1;
            end += 1;
        }
        self.groups += 1;
        Some(end)
    }
}
