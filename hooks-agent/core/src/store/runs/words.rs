//! The words of texts, the same for what is stored and what is searched, in every database.

use std::collections::BTreeSet;

use crate::store::runs::run::KeptRun;

/// The length of the longest word, in characters. The rest of a longer one is left out.
const LONGEST: usize = 64;

/// Returns the words of a text: the letters and digits between all other characters, in lower case, each once
/// and in order. Of a longer word, the first 64 characters are one.
///
/// ```
/// use hooks_agent::store::words_of;
///
/// let words: Vec<_> = words_of("Größe: 42 - größe!").into_iter().collect();
/// assert_eq!(words, ["42", "größe"]);
/// assert!(words_of("\"* \0 ').-").is_empty());
/// ```
#[must_use]
pub fn words_of(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(lower).collect()
}

/// Returns the words of the [text](KeptRun::text) of a run, with a space between them.
///
/// ```
/// assert_eq!(hooks_agent::store::text_words("Pay the baker, pay!"), "baker pay the");
/// ```
#[must_use]
pub fn text_words(text: &str) -> String {
    let end = text.floor_char_boundary(KeptRun::LONGEST_TEXT);
    words_of(&text[..end]).into_iter().collect::<Vec<_>>().join(" ")
}

/// Returns a word in lower case. Marks that this adds are left out, so that the words of words are the same.
fn lower(word: &str) -> String {
    let letters = word.chars().flat_map(char::to_lowercase).filter(|it| it.is_alphanumeric());
    letters.take(LONGEST).collect()
}
