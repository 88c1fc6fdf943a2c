//! Masks keys in the text of a provider.

const MASK: &str = "***";

/// How the keys of well-known services start.
const PREFIXES: [&str; 9] = ["sk-", "sk_", "pk-", "gsk_", "xai-", "hf_", "ghp_", "AIza", "eyJ"];

/// The ends of names whose values are keys.
const NAMES: [&str; 5] = ["key", "token", "secret", "password", "authorization"];

/// The length from which a word of letters and digits is a key.
const RANDOM: usize = 32;

/// Masks these keys. One may be a part of another.
pub(crate) fn without_keys(text: &str, keys: &[&str]) -> String {
    let mut keys: Vec<_> = keys.iter().map(|key| key.trim()).collect();
    keys.retain(|key| !key.is_empty());
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    keys.iter().fold(text.to_owned(), |text, key| text.replace(key, MASK))
}

/// Masks all that looks like a key or a password.
pub(crate) fn without_likely_keys(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let (mut rest, mut previous) = (text, "");
    loop {
        let (gap, from_word) = rest.split_at(rest.find(is_in_word).unwrap_or(rest.len()));
        masked.push_str(gap);
        let (word, behind) = cut(from_word, |char| !is_in_word(char));
        if word.is_empty() {
            return masked;
        }
        let secret = if gap.ends_with("://") {
            user_info(from_word)
        } else {
            (is_key(word) || is_value(previous, gap, word)).then(|| whole_key(from_word))
        };
        (masked, rest) = match secret.filter(|secret| !secret.is_empty()) {
            Some(secret) => (masked + MASK, &from_word[secret.len()..]),
            None => (masked + word, behind),
        };
        previous = word;
    }
}

fn is_in_word(char: char) -> bool {
    char.is_alphanumeric() || "-_.~+*%".contains(char)
}

fn cut(text: &str, is_end: impl FnMut(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

/// Returns the user and password at the start of the rest of a URL.
fn user_info(rest: &str) -> Option<&str> {
    let (authority, _) = cut(rest, |char| char.is_whitespace() || "/?#\"'`<>".contains(char));
    authority.rfind('@').map(|end| &authority[..end])
}

/// Returns the key at the start of a text, without the punctuation of the sentence.
fn whole_key(text: &str) -> &str {
    let (key, _) = cut(text, |char| char.is_whitespace() || "\"'`,;&)]}<>".contains(char));
    key.trim_end_matches(['.', ':', '!', '?'])
}

fn is_key(word: &str) -> bool {
    // Some providers quote a key with its middle masked.
    let is_prefixed = PREFIXES.iter().any(|prefix| word.starts_with(prefix) && word != *prefix);
    let is_random = word.len() >= RANDOM
        && word.chars().all(|char| char.is_ascii_alphanumeric())
        && word.contains(|char: char| char.is_ascii_digit())
        && word.contains(|char: char| char.is_ascii_alphabetic());
    is_prefixed || is_random || (word.contains(MASK) && word != MASK)
}

/// Returns whether a word is the value of a name before it, such as `key=`.
fn is_value(previous: &str, gap: &str, word: &str) -> bool {
    let name = previous.to_ascii_lowercase();
    let is_word = word.trim_end_matches('.').chars().all(|char| char.is_ascii_lowercase());
    let is_named = NAMES.iter().any(|end| name.ends_with(end));
    if gap.contains('=') {
        return is_named;
    }
    // What follows a colon is often a sentence, such as `invalid key: not found`.
    let is_secret = ["bearer", "basic"].contains(&&*name) && gap.trim().is_empty();
    !is_word && (is_secret || (is_named && name != "key" && gap.contains(':')))
}
