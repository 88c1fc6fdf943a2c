//! Splits texts into words.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;

/// A longer word is no word that somebody looks for.
const LONGEST: usize = 80;

/// Splits a text into words: in one form of each letter (NFKC) and in lower case. Of a name such as
/// `CallContext`, there are also its parts. Scripts without spaces, and Korean, are split into pairs
/// of characters that overlap, as Lucene's analyzer for Chinese, Japanese and Korean does.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// Whether there are also the single characters of such scripts, so that a query of one
    /// character finds them.
    pub(super) with_singles: bool,
}

/// The words of a text, one after the other.
pub(super) struct WordStream {
    words: std::vec::IntoIter<String>,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        let mut words = Split { words: Vec::new(), with_singles: self.with_singles };
        let (mut run, mut is_wide_run) = (String::new(), false);
        for char in text.nfkc() {
            let is_wide = is_wide(char);
            if !run.is_empty() && (is_wide != is_wide_run || !char.is_alphanumeric()) {
                words.end_run(&run, is_wide_run);
                run.clear();
            }
            if char.is_alphanumeric() {
                is_wide_run = is_wide;
                run.push(char);
            }
        }
        if !run.is_empty() {
            words.end_run(&run, is_wide_run);
        }
        WordStream { words: words.words.into_iter(), token: Token::default() }
    }
}

struct Split {
    words: Vec<String>,
    with_singles: bool,
}

impl Split {
    fn end_run(&mut self, run: &str, is_wide: bool) {
        if is_wide {
            self.pairs(run);
        } else {
            self.word(run);
        }
    }

    fn pairs(&mut self, run: &str) {
        let chars: Vec<char> = run.chars().collect();
        self.words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        if self.with_singles || chars.len() == 1 {
            self.words.extend(chars.iter().map(char::to_string));
        }
    }

    fn word(&mut self, word: &str) {
        if word.len() <= LONGEST {
            self.words.push(word.to_lowercase());
            let parts = parts(word);
            if parts.len() > 1 {
                self.words.extend(parts.into_iter().map(str::to_lowercase));
            }
        }
    }
}

// Input:  `CallContext`, `HTTPServer`, `README`
// Output: `Call` `Context`, `HTTP` `Server`, `README`
/// Splits a name where upper case begins.
fn parts(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut starts = vec![0];
    for window in 1..chars.len() {
        let (at, char) = chars[window];
        let before = chars[window - 1].1;
        let is_next_lower = chars.get(window + 1).is_some_and(|(_, next)| next.is_lowercase());
        if char.is_uppercase()
            && (before.is_lowercase() || (before.is_uppercase() && is_next_lower))
        {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    starts.iter().zip(ends).map(|(start, end)| &word[*start..end]).collect()
}

/// Returns whether the word is of a script that is split into pairs.
pub(crate) fn is_pair(word: &str) -> bool {
    word.chars().all(is_wide)
}

/// Returns whether the character is of a script that is split into pairs: Thai to Khmer, and
/// Chinese, Japanese and Korean.
fn is_wide(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(char, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}')
        || matches!(char, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
        || matches!(char, '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text = word;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
