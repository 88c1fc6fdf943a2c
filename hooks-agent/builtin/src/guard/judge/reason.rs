//! Bounds the reason of a verdict.

use hooks_agent_core::message::visible;
use serde_json::Value;

/// The longest reason, in characters.
const LONGEST: usize = 200;

/// How many characters in a row are a quote.
const QUOTE: usize = 16;

/// Returns the reason as others may read it: one line of at most 200 characters, in quotation marks, without
/// what it quotes of what was judged.
pub(super) fn bounded(reason: &str, judged: &Value) -> String {
    let reason: Vec<char> = one_line(reason).chars().take(LONGEST).collect();
    let mut texts = String::new();
    add_texts(judged, &mut texts);
    let judged = one_line(&texts).to_lowercase();
    let mut is_quoted = vec![false; reason.len()];
    for (at, window) in reason.windows(QUOTE).enumerate() {
        let window: String = window.iter().flat_map(|char| char.to_lowercase()).collect();
        if judged.contains(&window) {
            is_quoted[at..at + QUOTE].fill(true);
        }
    }
    let mut text = String::new();
    for (at, char) in reason.iter().enumerate() {
        match is_quoted[at] {
            false => text.push(*char),
            true if at == 0 || !is_quoted[at - 1] => text.push_str(".."),
            true => {}
        }
    }
    format!("{text:?}")
}

fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds the texts, numbers and keys of a value.
fn add_texts(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(text),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(fields) => {
            for (key, value) in fields {
                texts.push_str(key);
                texts.push('\n');
                add_texts(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => texts.push_str(&value.to_string()),
    }
    texts.push('\n');
}
