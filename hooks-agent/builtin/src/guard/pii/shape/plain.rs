//! The plain end of a text: a word of letters, or what is between words.

use crate::guard::pii::shape::bytes::{before, run_start};

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
        0x80.. => is_wide(text, word),
        _ => false,
    };
    is_between.then_some(word)
}

/// Returns whether a character of three or four bytes ends at `at`: shorter ones may be of a word.
fn is_wide(text: &[u8], at: usize) -> bool {
    before(text, at, 2).is_some_and(|byte| matches!(byte, 0x80..=0xBF))
}
