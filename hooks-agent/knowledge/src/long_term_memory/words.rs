//! The words of texts, by which entries are found, and the texts that count as the same.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// The most words of a text that are looked at.
const MOST: usize = 512;

/// The longest word, in characters; the rest of a longer one is left out.
const LONGEST: usize = 64;

/// Returns the different words of a text in lower case, in order. Of scripts without spaces, each
/// character and each pair of neighbours is a word.
pub(super) fn words(text: &str) -> Vec<String> {
    let (mut known, mut words) = (HashSet::new(), Vec::new());
    let lower = text.to_lowercase();
    let parts = lower.split(|char: char| !char.is_alphanumeric()).flat_map(parts);
    for word in parts {
        if words.len() == MOST {
            break;
        }
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

// Input:  "rust言語"
// Output: ["rust", "言", "語", "言語"]
fn parts(run: &str) -> Vec<String> {
    let chars: Vec<_> = run.chars().collect();
    let stretches = chars.chunk_by(|one, next| is_unspaced(*one) == is_unspaced(*next));
    let words = stretches.flat_map(|stretch| {
        if is_unspaced(stretch[0]) {
            let single = stretch.iter().map(char::to_string);
            single.chain(stretch.windows(2).map(|pair| pair.iter().collect())).collect()
        } else {
            vec![stretch.iter().take(LONGEST).collect::<String>()]
        }
    });
    words.collect()
}

/// Returns whether the character is of a script that is written without spaces: Thai to Khmer, and
/// Chinese, Japanese and Korean, whose words have endings without a space.
fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
        || matches!(char, '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns what texts have in common that differ in case and white space alone.
pub(super) fn digest(text: &str) -> [u8; 32] {
    let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
    Sha256::digest(words.join(" ")).into()
}
