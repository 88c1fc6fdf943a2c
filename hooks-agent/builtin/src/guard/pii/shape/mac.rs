//! MAC addresses: six pairs of hexadecimal digits, with colons or with dashes.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{before, ends_word, get, run_start, starts_word};

const LENGTH: usize = 17;
/// What is read after an address: a separator, a pair and the byte behind it.
const AHEAD: usize = 4;

fn is_pair(text: &[u8], at: usize) -> bool {
    (at..at + 2).all(|at| get(text, at).is_some_and(|byte| byte.is_ascii_hexdigit()))
}

/// The address whose first separator is at `at`.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
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
    (!follows && !continues).then_some(start..end)
}

/// Where an address may start that more text completes or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LENGTH + AHEAD));
    let is_part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-');
    let run = run_start(text, text.len(), least, is_part);
    let skipped = text[run..].iter().take_while(|byte| !byte.is_ascii_hexdigit()).count();
    run + skipped
}
