//! The words of texts and of queries.

use std::collections::HashSet;

use tantivy::tokenizer::{
    PreTokenizedString, RawTokenizer, Stemmer, StopWordFilter, TextAnalyzer, TokenStream, Tokenizer,
};

use crate::rag::text_index::words::language::Language;
use crate::rag::text_index::words::split::Words;

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
pub(crate) fn of_text(text: &str, language: Language) -> PreTokenizedString {
    let mut analyzer = TextAnalyzer::builder(Words { with_singles: true })
        .filter(Stemmer::new(language.stemmer()))
        .build();
    let mut tokens = Vec::new();
    analyzer.token_stream(text).process(&mut |token| tokens.push(token.clone()));
    PreTokenizedString { text: String::new(), tokens }
}

/// Returns the words of a query, each once, with its forms in these languages. Words that are in
/// most texts are left out, unless the query has no others.
pub(crate) fn of_query(query: &str, languages: &[Language]) -> Vec<Vec<String>> {
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
