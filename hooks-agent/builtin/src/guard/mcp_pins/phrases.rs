//! Phrases by which a description of a tool speaks to the model, and not about the tool.

/// Phrases in lower case, with one blank between words.
const PHRASES: [&str; 18] = [
    "ignore previous",
    "ignore all previous",
    "ignore the above",
    "ignore all other",
    "disregard",
    "do not tell the user",
    "don't tell the user",
    "do not mention",
    "don't mention",
    "without telling",
    "not inform the user",
    "before using any other tool",
    "before using this tool",
    "before calling any",
    "instead of the tool",
    "you must always",
    "<important>",
    "system prompt",
];

/// Returns the first phrase of a text, or what else in it people do not see.
pub(super) fn suspicious(text: &str) -> Option<&'static str> {
    let is_hidden = |it: char| matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{e0000}'..='\u{e007f}');
    if text.chars().any(is_hidden) {
        return Some("characters that people do not see");
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    PHRASES.into_iter().find(|phrase| text.contains(phrase))
}
