//! The words of names and descriptions, as they are compared.

/// English words that say nothing about a tool, but are in most questions.
const STOP_WORDS: [&str; 58] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could",
    "do", "does", "for", "from", "have", "how", "i", "if", "in", "is", "it", "its", "me", "my",
    "no", "not", "now", "of", "on", "or", "our", "please", "should", "so", "some", "that", "the",
    "them", "then", "there", "these", "this", "to", "was", "we", "what", "which", "who", "will",
    "with", "would", "yes", "you", "your",
];

// Input:  "the GitHub_issues 天气预报"
// Output: ["github", "git", "hub", "issu", "天气", "气预", "预报"]
/// Returns the words of a text: in lower case, without endings of the plural and of verbs; the parts of a name
/// such as `sendMail`, and its whole; each two characters of Chinese, Japanese or Korean.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut run = Vec::new();
    for char in text.chars() {
        let is_of_run = run.last().is_none_or(|last| is_wide(*last) == is_wide(char));
        if !char.is_alphanumeric() || !is_of_run {
            take(&mut run, &mut words);
        }
        if char.is_alphanumeric() {
            run.push(char);
        }
    }
    take(&mut run, &mut words);
    words
}

/// Takes the words out of a run of letters and digits.
fn take(run: &mut Vec<char>, words: &mut Vec<String>) {
    match &run[..] {
        [] => return,
        [first, _, ..] if is_wide(*first) => {
            words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
        _ => {
            let parts = parts(run);
            let whole = (parts.len() > 1).then_some(&run[..]);
            for part in whole.into_iter().chain(parts) {
                let word: String = part.iter().flat_map(|char| char.to_lowercase()).collect();
                if !STOP_WORDS.contains(&word.as_str()) {
                    words.push(stem(word));
                }
            }
        }
    }
    run.clear();
}

/// Splits a name: `getHTTPHeader2` is `get`, `HTTP`, `Header`, `2`.
fn parts(run: &[char]) -> Vec<&[char]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for at in 1..run.len() {
        let (before, char) = (run[at - 1], run[at]);
        let ends_capitals = before.is_uppercase()
            && char.is_uppercase()
            && run.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins_word = !before.is_uppercase() && char.is_uppercase();
        if begins_word || ends_capitals || before.is_numeric() != char.is_numeric() {
            parts.push(&run[begin..at]);
            begin = at;
        }
    }
    parts.push(&run[begin..]);
    parts
}

/// Returns an English word without the ending of its plural, without `ing` and `ed`, and without an `e`.
fn stem(mut word: String) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    if word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") {
        word.pop();
    }
    let root = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed"));
    if let Some(root) = root.filter(|root| root.len() > 2 && root.contains(is_vowel)) {
        word.truncate(root.len());
        let [.., before, last] = word.as_bytes() else { return word };
        if before == last && !is_vowel(char::from(*last)) && !matches!(last, b'l' | b's' | b'z') {
            word.pop();
        }
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
    word
}

fn is_vowel(char: char) -> bool {
    matches!(char, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// Returns whether the character is of a script without spaces between words: Chinese, Japanese, Korean.
fn is_wide(char: char) -> bool {
    matches!(char, '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
