//! The words before a number that say what it is.

/// How many bytes before a number are read.
const BEFORE: usize = 64;

/// Whether one of these words, in lower case, stands close before `at`. Blanks, `_` and `-` between the
/// parts of a name do not matter, nor does case: `socialSecurityNumber` has `social security number`.
pub(crate) fn is_named(text: &[u8], at: usize, words: &[&str]) -> bool {
    let mut starts = (at.saturating_sub(BEFORE)..at).filter(|start| starts_word(text, *start));
    starts.any(|start| words.iter().any(|word| has_word(&text[start..at], word.as_bytes())))
}

/// The same for what only a word tells: no other digits stand between.
pub(crate) fn is_named_closely(text: &[u8], at: usize, words: &[&str]) -> bool {
    let least = at.saturating_sub(BEFORE);
    let digit = text[least..at]
        .iter()
        .rposition(u8::is_ascii_digit)
        .map_or(least, |digit| least + digit + 1);
    (digit..at)
        .filter(|start| starts_word(text, *start))
        .any(|start| words.iter().any(|word| has_word(&text[start..at], word.as_bytes())))
}

/// Whether a word may start at `at`: behind what is no letter or digit, or at a capital letter.
fn starts_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    let is_hump = before.is_ascii_lowercase() && text[at].is_ascii_uppercase();
    // Of scripts without spaces, each character may start a word.
    !before.is_ascii_alphanumeric() && text[at] & 0xC0 != 0x80 || is_hump
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    let (mut at, mut rest) = (0, word);
    while let Some((first, others)) = rest.split_first() {
        if is_between(*first) {
            rest = others;
            continue;
        }
        while at > 0 && text.get(at).is_some_and(|byte| is_between(*byte)) {
            at += 1;
        }
        if text.get(at).map(u8::to_ascii_lowercase) != Some(*first) {
            return false;
        }
        (at, rest) = (at + 1, others);
    }
    let last = word.last().is_some_and(u8::is_ascii_alphanumeric);
    !last || !text.get(at).is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use crate::guard::pii::shape::context::is_named;

    #[test]
    fn a_word_before_a_number_names_it_however_it_is_written() {
        let words = ["ssn", "social security number", "身份证", "número"];
        for text in [
            "SSN: ",
            "my ssn ",
            "\"ssn\": ",
            "\"social_security_number\": ",
            "socialSecurityNumber=",
            "Social-Security Number is ",
            "身份证",
            "他的身份证号 ",
            "número ",
            "userSsn=",
            "the ssns ",
        ] {
            let named = is_named(text.as_bytes(), text.len(), &words);
            assert_eq!(named, text != "the ssns ", "{text}");
        }
        let long = format!("lessn {}", "x".repeat(61));
        assert!(!is_named(long.as_bytes(), long.len(), &["sn"]), "cut inside of a word");
        for text in ["lessn ", "assn: ", "social number ", "", "security "] {
            assert!(!is_named(text.as_bytes(), text.len(), &words), "{text}");
        }
    }
}
