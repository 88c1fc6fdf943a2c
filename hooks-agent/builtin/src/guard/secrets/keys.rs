//! Keys of providers, by the forms of the table: around a text that they have, or as the value of a name.

use std::ops::Range;

use crate::guard::secrets::assigned::LONGEST;
use crate::guard::secrets::table::TABLE;
use crate::guard::secrets::values::{has_sequence, is_random};

/// The most bytes before a text of a key that are a part of the key.
pub(super) const BACK: usize = 256;
/// The most bytes of a key behind the text that it was found by.
pub(super) const AHEAD: usize = 2048;
/// The fewest bytes of a beginning that says by itself what a key is.
const BEGINNING: usize = 4;

/// The key of a row that has the text at `hit` as a part.
pub(super) fn part_of(text: &[u8], hit: &Range<usize>, row: usize) -> Option<Range<usize>> {
    let before = &text[hit.start.saturating_sub(BACK)..hit.start];
    let start = hit.start - before.iter().rev().take_while(|byte| is_of_key(**byte)).count();
    let behind = &text[hit.end..text.len().min(hit.end + AHEAD)];
    let end = hit.end + behind.iter().take_while(|byte| is_of_key(**byte)).count();
    let row = &TABLE.kinds[row];
    let found = row.form().find_iter(&text[start..end]);
    let mut found = found.map(|it| start + it.start()..start + it.end());
    let found = found.find(|it| it.start <= hit.start && hit.end <= it.end)?;
    let before = found.start.checked_sub(1).map(|before| text[before]);
    // A short beginning may be that of a word in a path.
    let is_joined = hit.len() < 5
        && !is_unmistakable(&text[hit.clone()])
        && matches!(before, Some(b'/' | b'-' | b'.'));
    let starts = starts_word(text, found.start)
        || found.start == hit.start && is_unmistakable(&text[hit.clone()]);
    let is_free = starts && ends_word(text, found.end) && !is_joined;
    let key = &text[found.clone()];
    (is_free && row.takes(key) && !has_example(key)).then_some(found)
}

/// A key that is longer or shorter than its provider says, as one that was cut is: a beginning such as `ghp_`, and
/// enough behind it.
pub(super) fn cut_key(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let rest = &text[hit.end..text.len().min(hit.end + LONGEST)];
    let length = rest.iter().take_while(|byte| is_word(**byte) || **byte == b'-').count();
    let is_key = is_unmistakable(&text[hit.clone()]) && is_random(&rest[..length]);
    is_key.then(|| hit.start..hit.end + length)
}

/// Whether a beginning says by itself what a key is, also in the middle of a word.
fn is_unmistakable(beginning: &[u8]) -> bool {
    let has_vowels = beginning.iter().any(|byte| b"aeiouAEIOU".contains(byte));
    let is_separated = matches!(beginning.last(), Some(b'_' | b'-'));
    is_separated && beginning.len() >= if has_vowels { 6 } else { BEGINNING }
}

/// The key of a row at the start of a value.
pub(super) fn of_form(text: &[u8], value: Range<usize>, row: usize) -> Option<Range<usize>> {
    let row = &TABLE.kinds[row];
    let key = row.form().find(&text[value.clone()]).filter(|key| key.start() == 0)?;
    let found = value.start..value.start + key.end();
    let is_end = text.get(found.end) != Some(&b'-') && ends_word(text, found.end);
    let is_free = starts_word(text, found.start) && is_end;
    (is_free && row.takes(key.as_bytes()) && !has_example(key.as_bytes())).then_some(found)
}

fn has_example(key: &[u8]) -> bool {
    has_sequence(key) || key.windows(7).any(|part| part.eq_ignore_ascii_case(b"example"))
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>\\".contains(&byte)
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn starts_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| !is_word(text[before]))
}

fn ends_word(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !is_word(*byte))
}
