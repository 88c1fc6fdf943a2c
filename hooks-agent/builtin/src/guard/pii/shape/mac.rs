//! MAC addresses: six pairs of hexadecimal digits, with colons or with dashes, or three groups of four with dots.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{before, ends_word, get, run_start, starts_word};

const LENGTH: usize = 17;
const DOTTED: usize = 14;
/// What is read after an address: a separator, a pair and the byte behind it.
const AHEAD: usize = 4;

fn is_pair(text: &[u8], at: usize) -> bool {
    (at..at + 2).all(|at| get(text, at).is_some_and(|byte| byte.is_ascii_hexdigit()))
}

/// The address whose first separator is at `at`.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    if text[at] == b'.' {
        return dotted(text, at);
    }
    let (separator, start) = (text[at], at.checked_sub(2)?);
    let pairs = (0..6).all(|pair| is_pair(text, start + 3 * pair));
    let separated = (0..5).all(|pair| get(text, start + 3 * pair + 2) == Some(separator));
    let end = start + LENGTH;
    if !pairs || !separated || !starts_word(text, start) || !ends_word(text, end) {
        return None;
    }
    let follows = before(text, start, 1) == Some(separator)
        && start >= 3
        && is_pair(text, start - 3)
        && starts_word(text, start - 3);
    let continues =
        get(text, end) == Some(separator) && is_pair(text, end + 1) && ends_word(text, end + 3);
    let is_of_nobody = [b'0', b'F'].iter().any(|digit| {
        let is_same = |byte: &u8| byte.eq_ignore_ascii_case(digit) || *byte == separator;
        text[start..end].iter().all(is_same)
    });
    (!follows && !continues && !is_of_nobody).then_some(start..end)
}

/// An address such as `001a.2b3c.4d5e`. One of digits alone may be any number.
fn dotted(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at.checked_sub(4)?;
    let end = start + DOTTED;
    let address = text.get(start..end)?;
    let groups = (0..3).all(|group| is_pair(address, 5 * group) && is_pair(address, 5 * group + 2));
    let joined = |at: usize| get(text, at) == Some(b'.');
    let stands_alone = starts_word(text, start)
        && ends_word(text, end)
        && !(joined(end) && is_pair(text, end + 1))
        && before(text, start, 1) != Some(b'.');
    let has_letter = address.iter().any(u8::is_ascii_alphabetic);
    (groups && address[9] == b'.' && stands_alone && has_letter).then_some(start..end)
}

/// Where an address may start that more text completes or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LENGTH + AHEAD));
    let is_part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.');
    let run = run_start(text, text.len(), least, is_part);
    let skipped = text[run..].iter().take_while(|byte| !byte.is_ascii_hexdigit()).count();
    run + skipped
}
