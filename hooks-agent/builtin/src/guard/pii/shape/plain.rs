//! The plain end of a text: a word of letters, or what is between words.

use memchr::memmem;

use crate::guard::pii::shape::bytes::{before, run_start};
use crate::guard::pii::shape::url::LONGEST;

/// The most letters of a word that [`end`] looks for.
const WORD: usize = 64;

/// Returns the start of the word of letters that the text ends with, or the end of a text that ends
/// between words: from there on, e-mail addresses and URLs are open, and nothing is before. Returns
/// `None` for other ends, such as digits, for accounts, and for words that touch something else.
pub(crate) fn end(text: &[u8], from: usize) -> Option<usize> {
    let least = from.max(text.len().saturating_sub(WORD));
    let word = run_start(text, text.len(), least, |byte| byte.is_ascii_alphabetic());
    if word == from && word < text.len() {
        return Some(from);
    }
    let before_word = *text[from..word].last()?;
    let is_between = match before_word {
        b'\n' | b'\t' | b'\r' => true,
        b' ' if word < text.len() => true,
        // Digits and what joins them may go on behind a space.
        b' ' => text[from..word - 1].last().is_some_and(u8::is_ascii_alphabetic),
        0x80.. => is_wide(text, word) && !may_be_of_url(text, from),
        _ => false,
    };
    is_between.then_some(word)
}

/// Returns whether the text may end in a URL: its host and its credentials may be of any script.
pub(crate) fn may_be_of_url(text: &[u8], from: usize) -> bool {
    let text = &text[from.max(text.len().saturating_sub(LONGEST))..];
    let sign = memmem::rfind(text, b"://");
    let is_blank = |byte: &u8| byte.is_ascii() && !byte.is_ascii_graphic();
    sign.is_some_and(|sign| !text[sign..].iter().any(is_blank))
}

/// Returns whether a character of three or four bytes ends at `at`: shorter ones may be of a word.
fn is_wide(text: &[u8], at: usize) -> bool {
    before(text, at, 2).is_some_and(|byte| matches!(byte, 0x80..=0xBF))
}
