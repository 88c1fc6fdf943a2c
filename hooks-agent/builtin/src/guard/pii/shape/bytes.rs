//! Classes of bytes, and runs of them.

/// Whether a byte is of a word: an ASCII letter, digit or underscore. Word boundaries are ASCII, so
/// that an address that touches CJK text is found.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The byte at `at`, if the text is that long.
pub(crate) fn get(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).copied()
}

/// The byte `back` bytes before `at`.
pub(crate) fn before(text: &[u8], at: usize, back: usize) -> Option<u8> {
    text.get(at.checked_sub(back)?).copied()
}

/// Whether no word continues across `at` from the left.
pub(crate) fn starts_word(text: &[u8], at: usize) -> bool {
    before(text, at, 1).is_none_or(|byte| !is_word(byte))
}

/// Whether no word continues across `at` to the right.
pub(crate) fn ends_word(text: &[u8], at: usize) -> bool {
    get(text, at).is_none_or(|byte| !is_word(byte))
}

/// Whether the byte at `at` is a digit.
pub(crate) fn is_digit(text: &[u8], at: usize) -> bool {
    get(text, at).is_some_and(|byte| byte.is_ascii_digit())
}

/// Whether a Latin letter with a mark (U+00C0 to U+024F) starts with this byte.
pub(crate) fn is_latin_lead(byte: u8) -> bool {
    matches!(byte, 0xC3..=0xC9)
}

/// The start of the run of such bytes that ends at `end`, at least `least`.
pub(crate) fn run_start(text: &[u8], end: usize, least: usize, of: impl Fn(u8) -> bool) -> usize {
    let run = text[least.min(end)..end].iter().rev().take_while(|byte| of(**byte)).count();
    end - run
}

/// The start of the run of ASCII bytes of this class and marked Latin letters that ends at `end`.
pub(crate) fn latin_run_start(
    text: &[u8],
    end: usize,
    least: usize,
    of: impl Fn(u8) -> bool,
) -> usize {
    let mut start = end;
    while start > least {
        let byte = text[start - 1];
        if byte.is_ascii() && of(byte) {
            start -= 1;
        } else if start >= least + 2 && !byte.is_ascii() && is_latin_lead(text[start - 2]) {
            start -= 2;
        } else {
            break;
        }
    }
    start
}

/// The last position at or before `at` where a character starts.
pub(crate) fn floor(text: &[u8], at: usize) -> usize {
    let mut at = at.min(text.len());
    while at > 0 && get(text, at).is_some_and(|byte| byte & 0xC0 == 0x80) {
        at -= 1;
    }
    at
}
