//! Searches for identity and tax numbers.

use std::ops::Range;

use crate::guard::pii::confidence::PiiConfidence;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::id::table::IDS;
use crate::guard::pii::kind::PiiKind;
use crate::guard::pii::shape::bytes::{before, get};
use crate::guard::pii::shape::context::{is_named, is_named_closely};

/// The most letters at the start of a number.
const LETTERS: usize = 6;

/// Of how many random numbers one may pass, at most, of a form that is found without a word before it: if
/// it has letters or separators of its own, and if it is digits alone.
const STRONG: (u32, u32) = (100, 1000);

/// A layout of some forms.
#[derive(Debug)]
struct Layout {
    text: &'static [u8],
    forms: Vec<&'static IdForm>,
}

/// The forms that are searched for.
#[derive(Debug)]
pub(crate) struct Ids {
    /// By length, from none on.
    by_length: Vec<Vec<Layout>>,
    least: PiiConfidence,
}

impl Ids {
    /// The forms of these kinds.
    pub(crate) fn new(kinds: &[PiiKind], least: PiiConfidence) -> Self {
        let mut by_length: Vec<Vec<Layout>> = Vec::new();
        for form in IDS.iter().filter(|form| kinds.contains(&form.kind)) {
            for layout in form.layouts {
                let text = layout.as_bytes();
                if by_length.len() <= text.len() {
                    by_length.resize_with(text.len() + 1, Vec::new);
                }
                let of_length = &mut by_length[text.len()];
                match of_length.iter_mut().find(|it| it.text == text) {
                    Some(known) => known.forms.push(form),
                    None => of_length.push(Layout { text, forms: vec![form] }),
                }
            }
        }
        Self { by_length, least }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_length.is_empty()
    }

    /// Calls `found` with the numbers whose first digit is at `at`.
    pub(crate) fn at(&self, text: &[u8], at: usize, mut found: impl FnMut(PiiKind, Range<usize>)) {
        let mut start = word_start(text, at);
        // The digits before these are of the same word.
        if self.is_empty() || text[start..at].iter().any(u8::is_ascii_digit) {
            return;
        }
        let mut starts = vec![start];
        // `AB 12 34 56 C`: letters are a word of their own.
        while let Some(letters) = letters_before(text, start) {
            if at - letters > LETTERS + 2 {
                break;
            }
            starts.push(letters);
            start = letters;
        }
        // The longest number first.
        starts.iter().rev().for_each(|start| self.from(text, *start, &mut found));
    }

    /// Reads the longest number of each kind from `start`.
    fn from(&self, text: &[u8], start: usize, found: &mut impl FnMut(PiiKind, Range<usize>)) {
        if !is_start(text, start) {
            return;
        }
        let rest = &text[start..];
        let longest = rest.iter().take(self.by_length.len() - 1).take_while(|byte| is_part(**byte));
        for length in (1..=longest.count()).rev() {
            let end = start + length;
            if self.by_length[length].is_empty() || !is_end(text, end) {
                continue;
            }
            let number = &rest[..length];
            for layout in self.by_length[length].iter().filter(|layout| fits(number, layout.text)) {
                let compact: Vec<u8> = number
                    .iter()
                    .filter(|byte| byte.is_ascii_alphanumeric())
                    .map(u8::to_ascii_uppercase)
                    .collect();
                for form in &layout.forms {
                    let confidence = || confidence(form, text, start, number);
                    if (form.check)(&compact) && confidence().is_some_and(|it| it >= self.least) {
                        found(form.kind, start..end);
                    }
                }
            }
        }
    }

    /// Where a number may start that more text completes, lengthens or refutes.
    pub(crate) fn open(&self, text: &[u8], from: usize) -> usize {
        let longest = self.by_length.len();
        let least = from.max(text.len().saturating_sub(longest));
        let run = text[least..].iter().rev().take_while(|byte| is_part(**byte)).count();
        let starts = (text.len() - run..text.len()).filter(|start| {
            text[*start].is_ascii_alphanumeric()
                && before(text, *start, 1).is_none_or(|byte| !byte.is_ascii_alphanumeric())
        });
        let mut starts = starts.filter(|start| self.is_open(&text[*start..]));
        starts.next().unwrap_or(text.len())
    }

    /// Whether this end of a text may be the start of a number, or one that is not followed by its end.
    fn is_open(&self, rest: &[u8]) -> bool {
        let longer = self.by_length.get(rest.len()..).unwrap_or_default();
        let fits = |layout: &Layout| fits(rest, &layout.text[..rest.len()]);
        longer.iter().flatten().any(fits)
            // Behind the number, a separator and a digit refute it.
            || rest.len() > 1 && is_joint(rest[rest.len() - 1]) && {
                let number = &rest[..rest.len() - 1];
                self.by_length.get(number.len()).into_iter().flatten().any(|layout| self::fits(number, layout.text))
            }
    }
}

/// How sure it is that this is a number of the form, whose check it passes. None of one that only a word tells.
fn confidence(form: &IdForm, text: &[u8], start: usize, number: &[u8]) -> Option<PiiConfidence> {
    let is_named = if form.one_of == 0 { is_named_closely } else { is_named };
    if is_named(text, start, form.context) {
        return Some(PiiConfidence::High);
    }
    let is_plain = number.iter().all(u8::is_ascii_digit);
    let least = if is_plain { STRONG.1 } else { STRONG.0 };
    match form.one_of {
        0 => None,
        odds if odds >= least => Some(PiiConfidence::Medium),
        _ => Some(PiiConfidence::Low),
    }
}

/// Whether a text has this layout. Letters of a word of their own are capitals.
fn fits(text: &[u8], layout: &[u8]) -> bool {
    text.len() == layout.len()
        && text.iter().zip(layout).enumerate().all(|(at, (byte, class))| match class {
            b'9' => byte.is_ascii_digit(),
            b'A' if layout.get(at + 1) == Some(&b' ') || at > 0 && layout[at - 1] == b' ' => {
                byte.is_ascii_uppercase()
            }
            b'A' => byte.is_ascii_alphabetic(),
            b'*' => byte.is_ascii_alphanumeric(),
            class => byte == class,
        })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'.' | b'/' | b'+')
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'-' | b'.' | b'/' | b'+')
}

/// The start of the letters and digits that end at `at`, as far as a number may have them.
fn word_start(text: &[u8], at: usize) -> usize {
    let letters = text[..at].iter().rev().take(LETTERS + 1);
    at - letters.take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// The start of a word of capitals that a blank or a dash parts from what is at `at`.
fn letters_before(text: &[u8], at: usize) -> Option<usize> {
    let end = at.checked_sub(1).filter(|end| matches!(text[*end], b' ' | b'-'))?;
    let letters = text[..end].iter().rev().take(LETTERS + 1);
    let count = letters.take_while(|byte| byte.is_ascii_uppercase()).count();
    (1..=LETTERS).contains(&count).then(|| end - count)
}

/// Whether a number may start here: not inside of a word, nor behind another number that goes on.
fn is_start(text: &[u8], start: usize) -> bool {
    match before(text, start, 1) {
        Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => false,
        Some(byte) if is_joint(byte) => {
            before(text, start, 2).is_none_or(|byte| !byte.is_ascii_alphanumeric())
        }
        _ => true,
    }
}

fn is_end(text: &[u8], end: usize) -> bool {
    match get(text, end) {
        Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => false,
        Some(byte) if is_joint(byte) => {
            get(text, end + 1).is_none_or(|byte| !byte.is_ascii_digit())
        }
        _ => true,
    }
}
