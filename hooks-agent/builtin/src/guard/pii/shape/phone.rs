//! Telephone numbers: international ones with `+` or `00`, and national ones of a clear shape.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{before, ends_word, get, is_digit, run_start, starts_word};
use crate::guard::pii::shape::phone_groups::{DIGITS, Groups, LONGEST, Separator};
use crate::guard::pii::shape::phone_plan::{is_international, is_national};

/// The separator at `at` that a digit follows, and the position of this digit.
fn separator(text: &[u8], at: usize) -> Option<(Separator, usize)> {
    let one = match get(text, at)? {
        b' ' => Separator::Space,
        b'-' => Separator::Dash,
        b'.' => Separator::Dot,
        b'/' => Separator::Slash,
        b'(' | b')' => Separator::Parenthesis,
        _ => return None,
    };
    if is_digit(text, at + 1) {
        return Some((one, at + 1));
    }
    let pair = matches!(
        (text[at], get(text, at + 1)?),
        (b')', b' ' | b'-' | b'/') | (b' ' | b'-', b'(') | (b'/', b' ')
    );
    (pair && is_digit(text, at + 2)).then_some((Separator::Parenthesis, at + 2))
}

/// The number that starts at `at`, with `+`, `(` or a digit.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !starts_word(text, at) || before(text, at, 1) == Some(b'+') {
        return None;
    }
    match text[at] {
        b'+' => international(text, at, at + 1),
        b'0' if get(text, at + 1) == Some(b'0') => {
            let free = starts_national(text, at);
            free.then(|| international(text, at, at + 2)).flatten()
        }
        _ => national(text, at),
    }
}

/// The longest valid number whose country code is at `start`.
fn international(text: &[u8], begin: usize, start: usize) -> Option<Range<usize>> {
    let mut groups = Groups::default();
    let (mut at, mut found) = (start, None);
    if !is_digit(text, start) {
        return None;
    }
    loop {
        // A zero in parentheses is dialled inside of the country only.
        if groups.groups == 1 && text[at - 1] == b'(' && text[at..].starts_with(b"0)") {
            at = separator(text, at + 1).map_or(at + 1, |(_, next)| next);
            if !is_digit(text, at) {
                return found;
            }
        }
        let Some(end) = groups.push(text, at) else { return found };
        if ends_number(text, end) && is_international(&groups) {
            found = Some(begin..end);
        }
        let Some((separator, next)) = separator(text, end) else { return found };
        groups.separators[groups.groups - 1] = separator;
        at = next;
    }
}

/// The longest number of a national shape.
fn national(text: &[u8], start: usize) -> Option<Range<usize>> {
    let in_parentheses = text[start] == b'(';
    let mut at = start + usize::from(in_parentheses);
    let bracketed = !in_parentheses || is_bracketed(text, at);
    if !is_digit(text, at) || !bracketed || !starts_national(text, start) {
        return None;
    }
    let mut groups = Groups { in_parentheses, ..Groups::default() };
    let mut found = None;
    loop {
        let Some(end) = groups.push(text, at) else { return found };
        let spaced = groups.separators().contains(&Separator::Space);
        let goes_on = spaced && get(text, end) == Some(b' ') && is_digit(text, end + 1);
        if !goes_on && ends_number(text, end) && is_national(&groups) {
            found = Some(start..end);
        }
        let Some((separator, next)) = separator(text, end) else { return found };
        groups.separators[groups.groups - 1] = separator;
        at = next;
    }
}

/// Whether what is before `at` cannot be the start of the same number, date or code.
fn starts_national(text: &[u8], at: usize) -> bool {
    match before(text, at, 1) {
        Some(b'$' | b'#') => false,
        Some(b'(') => !is_bracketed(text, at),
        Some(b' ') => at < 2 || !is_digit(text, at - 2),
        Some(b'-' | b'.' | b'/' | b',' | b':' | b'_') => {
            at < 2 || !text[at - 2].is_ascii_alphanumeric() || is_label(text, at)
        }
        _ => true,
    }
}

/// Whether a closing parenthesis is behind the digits at `at`, and more digits behind it.
fn is_bracketed(text: &[u8], at: usize) -> bool {
    let digits = (0..DIGITS).take_while(|digit| is_digit(text, at + digit)).count();
    get(text, at + digits) == Some(b')') && separator(text, at + digits).is_some()
}

/// Whether a letter and a colon are before `at`, as in `tel:030 123456`.
fn is_label(text: &[u8], at: usize) -> bool {
    text[at - 1] == b':' && text[at - 2].is_ascii_alphabetic()
}

/// Whether the digits before `end` do not go on in a word or a decimal number.
fn ends_number(text: &[u8], end: usize) -> bool {
    let joins = matches!(get(text, end), Some(b'-' | b'.' | b'/' | b':'));
    ends_word(text, end) && !(joins && is_digit(text, end + 1))
}

/// Where a number may start that more text completes, lengthens or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST));
    let is_part = |byte: u8| {
        byte.is_ascii_digit()
            || matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b'+' | b':')
    };
    let run = run_start(text, text.len(), least, is_part);
    let starts = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'(');
    run + text[run..].iter().take_while(|byte| !starts(byte)).count()
}
