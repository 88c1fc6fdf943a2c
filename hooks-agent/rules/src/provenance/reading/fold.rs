//! Folds texts: letters in lower case and in one form of Unicode, without what does not show.

use std::borrow::Cow;

use hooks_agent_core::message::is_invisible;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;

/// Returns a text in its usual form. Its lines and blanks stay, and no character becomes one that structures a text.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (plain, others) = rest.split_at(rest.bytes().take_while(|it| is_plain(*it)).count());
        folded.push_str(plain);
        let start = folded.len() - plain.len();
        folded[start..].make_ascii_lowercase();
        let (others, more) =
            others.split_at(others.bytes().take_while(|it| !is_plain(*it)).count());
        rest = more;
        if !others.is_empty() {
            // The character before may get marks.
            let before = folded.pop();
            let all = before.into_iter().chain(others.chars().filter_map(shown));
            let lower = all.nfkc().flat_map(char::to_lowercase);
            // The dot of a Turkish letter, and the sigma at the end of a word.
            let lower = lower.filter(|it| *it != '\u{307}');
            folded.extend(lower.map(|it| if it == 'ς' { 'σ' } else { it }));
        }
    }
    folded
}

/// Whether a byte is a character that needs no form but lower case.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// Returns what stands for a character.
fn shown(char: char) -> Option<char> {
    match char {
        '\r' | '\u{b}' | '\u{c}' => Some(' '),
        '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        char if is_invisible(char) => None,
        char => {
            let mut is_forged = false;
            decompose_compatible(char, |part| is_forged |= is_of_structure(part));
            Some(if is_forged { char::REPLACEMENT_CHARACTER } else { char })
        }
    }
}

/// Whether a character tells where the fields of a text begin and end.
const fn is_of_structure(char: char) -> bool {
    matches!(char, '"' | '\'' | '`' | '\\' | '{' | '}' | '[' | ']' | ',' | ':' | '|' | '\n' | '\t')
}

/// Returns the words of a folded text: letters and digits.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !is_of_word(it)).filter(|word| !word.is_empty())
}

/// Whether a character is part of words.
pub(crate) fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Whether a character joins what stands beside it to a longer word: scripts without blanks do not.
pub(crate) fn joins(char: char) -> bool {
    is_of_word(char) && !is_without_blanks(char)
}

/// Whether a character is of a script without blanks between words: Chinese, Japanese, Korean with its particles.
pub(crate) const fn is_without_blanks(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Returns a text of the user with a blank between two sentences that adjoin: an address that ends the first one has
/// no end otherwise.
pub(crate) fn with_apart_sentences(text: &str) -> Cow<'_, str> {
    let is_end = |(at, _): &(usize, &str)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + 1..].chars().next();
        before.is_some_and(char::is_lowercase) && after.is_some_and(char::is_uppercase)
    };
    let ends: Vec<_> = text.match_indices('.').filter(is_end).map(|(at, _)| at).collect();
    if ends.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len() + ends.len());
    let mut from = 0;
    for end in ends {
        apart.push_str(&text[from..=end]);
        apart.push(' ');
        from = end + 1;
    }
    apart.push_str(&text[from..]);
    Cow::Owned(apart)
}

#[cfg(test)]
mod tests {
    use super::{folded, with_apart_sentences};

    #[test]
    fn forms_of_a_letter_are_one() {
        assert_eq!(folded("ＡＢＣ é É e\u{301} x\u{200b}y\u{a0}z"), "abc é é é xy z");
        assert_eq!(folded("One\r\ntwo"), "one \ntwo");
        assert_eq!(folded("Ü"), folded("u\u{308}"));
    }

    #[test]
    fn no_character_becomes_one_that_structures() {
        assert_eq!(
            folded("\u{ff02}id\u{ff02}\u{ff1a} \u{ff3b}"),
            "\u{fffd}id\u{fffd}\u{fffd} \u{fffd}"
        );
        assert_eq!(folded("\"é\", [é]:"), "\"é\", [é]:");
    }

    #[test]
    fn sentences_without_a_blank_are_two() {
        assert_eq!(
            with_apart_sentences("at www.example.com.They are"),
            "at www.example.com. They are"
        );
        assert_eq!(with_apart_sentences("v1.2 and a.b"), "v1.2 and a.b");
    }
}
