//! The words of a text, as the index has them.

use std::collections::HashSet;

use tantivy::tokenizer::{
    PreTokenizedString, RawTokenizer, Stemmer, StopWordFilter, TextAnalyzer, Token, TokenStream,
    Tokenizer,
};
use unicode_normalization::UnicodeNormalization;

use crate::builtin::knowledge::rag::text_index::language::Language;

/// A longer word is no word that somebody looks for.
const LONGEST: usize = 80;

/// The most words of a query. Those that follow are left out.
const MOST: usize = 256;

/// What questions have, beyond the words that `tantivy` leaves out.
const ASKED: [&str; 32] = [
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "do", "does", "did",
    "can", "could", "should", "would", "may", "must", "has", "have", "had", "i", "me", "my", "we",
    "our", "you", "your", "am", "from", "about", "its",
];

/// Characters that are in most Chinese and Japanese questions and say nothing of their subject.
const ASKED_WIDE: [char; 24] = [
    '的', '了', '是', '吗', '呢', '么', '哪', '谁', '什', '怎', '几', '也', '都', '就', '和', '与',
    '在', 'は', 'が', 'を', 'に', 'の', 'で', 'か',
];

/// Returns the words of a text with stems of its language, for the index.
pub(super) fn of_text(text: &str, language: Language) -> PreTokenizedString {
    let mut analyzer = TextAnalyzer::builder(Words { with_singles: true })
        .filter(Stemmer::new(language.stemmer()))
        .build();
    let mut tokens = Vec::new();
    analyzer.token_stream(text).process(&mut |token| tokens.push(token.clone()));
    PreTokenizedString { text: String::new(), tokens }
}

/// Returns the words of a query, each once, with its forms in these languages. Words that are in
/// most texts are left out, unless the query has no others.
pub(super) fn of_query(query: &str, languages: &[Language]) -> Vec<Vec<String>> {
    let mut words = Vec::new();
    let mut seen = HashSet::new();
    let mut split = Words { with_singles: false };
    let mut stream = split.token_stream(query);
    while words.len() < MOST && stream.advance() {
        let word = &stream.token().text;
        if seen.insert(word.clone()) {
            words.push(word.clone());
        }
    }
    let telling: Vec<_> =
        words.iter().filter(|word| !is_everywhere(word, languages)).cloned().collect();
    let words = if telling.is_empty() { words } else { telling };
    words.into_iter().map(|word| forms(word, languages)).collect()
}

/// Returns a word and its stems.
fn forms(word: String, languages: &[Language]) -> Vec<String> {
    let mut forms = Vec::new();
    for language in languages {
        let stemmer = Stemmer::new(language.stemmer());
        let mut analyzer = TextAnalyzer::builder(RawTokenizer::default()).filter(stemmer).build();
        analyzer.token_stream(&word).process(&mut |token| forms.push(token.text.clone()));
    }
    forms.push(word);
    forms.sort();
    forms.dedup();
    forms
}

fn is_everywhere(word: &str, languages: &[Language]) -> bool {
    let is_stop_word = |language: &Language| {
        let Some(filter) = StopWordFilter::new(language.stemmer()) else { return false };
        let mut analyzer = TextAnalyzer::builder(RawTokenizer::default()).filter(filter).build();
        !analyzer.token_stream(word).advance()
    };
    ASKED.contains(&word)
        || word.chars().any(|char| ASKED_WIDE.contains(&char))
        || languages.iter().any(is_stop_word)
}

/// Splits a text into words: in one form of each letter (NFKC) and in lower case. Of a name such as
/// `CallContext`, there are also its parts. Scripts without spaces, and Korean, are split into pairs
/// of characters that overlap, as Lucene's analyzer for Chinese, Japanese and Korean does.
#[derive(Clone, Debug)]
struct Words {
    /// Whether there are also the single characters of such scripts, so that a query of one
    /// character finds them.
    with_singles: bool,
}

/// The words of a text, one after the other.
struct WordStream {
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
pub(super) fn is_pair(word: &str) -> bool {
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
