//! The form of tokens: `[EMAIL_KXQRTNBW]`.

use std::ops::Range;

/// The most bytes of a token.
const LONGEST: usize = 256;
/// The most characters of a label.
const LABEL: usize = 32;
/// The letters of a code. Without digits no detector takes one for a number, without vowels none is a
/// word.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// The letters in a code: 34 bits, which nobody guesses who has not seen the token.
const LENGTH: usize = 8;

/// Returns the token of a label and a number.
pub(super) fn token(label: &str, mut number: u64) -> String {
    let mut code = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        let letter = usize::try_from(number % 20).unwrap_or_default();
        code.push(char::from(LETTERS[letter]));
        number /= 20;
    }
    format!("[{label}_{code}]")
}

/// Returns the name of a kind in its tokens: without brackets, which end a token.
pub(super) fn label(kind: &str) -> String {
    let plain = |char: char| if char.is_alphanumeric() { char } else { '_' };
    kind.chars().flat_map(char::to_uppercase).map(plain).take(LABEL).collect()
}

/// Returns the ranges of what has the form of a token, in linear time.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[at..].find('[') {
            let start = at + found;
            at = start + 1;
            if let Some(end) = token_end(text, start) {
                at = end;
                return Some(start..end);
            }
        }
        None
    })
}

/// Returns the range of the token that this range is inside of.
pub(super) fn token_around(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(range.end.saturating_sub(LONGEST));
    let start = from + text[from..range.end].rfind('[')?;
    let end = token_end(text, start)?;
    (start <= range.start && range.end <= end).then_some(start..end)
}

/// Returns where a token may begin at the end of a text that grows.
pub(in crate::guard) fn open_token(text: &str) -> Option<usize> {
    let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST));
    let start = from + text[from..].rfind('[')?;
    text[start + 1..].chars().all(is_plain).then_some(start)
}

/// Returns the end of the token that starts at a bracket, if one does.
fn token_end(text: &str, start: usize) -> Option<usize> {
    let inside = &text[start + 1..];
    let length = inside.char_indices().take(LONGEST).find(|(_, char)| !is_plain(*char))?.0;
    let (label, code) = inside[..length].rsplit_once('_')?;
    let is_code = code.len() == LENGTH && code.bytes().all(|byte| LETTERS.contains(&byte));
    let is_token = inside[length..].starts_with(']') && !label.is_empty() && is_code;
    is_token.then_some(start + 1 + length + 1)
}

fn is_plain(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use crate::guard::vault::token::{label, open_token, token, token_around, tokens};

    #[test]
    fn what_is_written_has_the_form() {
        for number in [0, 1, u64::MAX, 7_777_777_777] {
            for kind in ["email", "na]me[", "é", "", "straße"] {
                let token = token(&format!("X{}", label(kind)), number);
                let text = format!("[[{token}] a");
                assert_eq!(tokens(&text).next(), Some(2..2 + token.len()), "{text}");
                assert_eq!(token_around(&text, &(3..4)), Some(2..2 + token.len()));
            }
        }
    }

    #[test]
    fn what_people_write_does_not() {
        for text in ["[EMAIL_1]", "[EMAIL_]", "[_BCDFGHJK]", "[EMAIL BCDFGHJK]", "[A_BCDFGHJKL]"] {
            assert_eq!(tokens(text).count(), 0, "{text}");
        }
    }

    #[test]
    fn a_token_is_open_until_it_cannot_be_one() {
        assert_eq!(open_token("to [EMAIL_"), Some(3));
        assert_eq!(open_token("to ["), Some(3));
        assert_eq!(open_token("to [EMAIL_BCDFGHJK]"), None);
        assert_eq!(open_token("to [a list"), None);
    }
}
