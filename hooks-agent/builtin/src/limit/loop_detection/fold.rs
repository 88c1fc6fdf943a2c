//! Digests of arguments and results in which what makes no difference is folded.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use hooks_agent_core::message::{ContentBlock, ToolOutput};
use serde_json::Value;

/// Returns a digest of arguments, whatever the order of their keys, the case and the blanks of their texts, and how
/// their numbers are written. A field that is null is one that is not there.
pub(super) fn arguments(input: &Value) -> u64 {
    let mut hash = DefaultHasher::new();
    add(&mut hash, input);
    hash.finish()
}

/// Returns a digest of a result as it is.
pub(super) fn result(output: &ToolOutput) -> u64 {
    let mut hash = DefaultHasher::new();
    output.as_str().trim().hash(&mut hash);
    add_rest(&mut hash, output);
    hash.finish()
}

/// Returns a digest of what a result says beside the words of the arguments, such as the number of the page that has
/// nothing.
pub(super) fn told(output: &ToolOutput, input: &Value) -> u64 {
    let mut asked = HashSet::new();
    words_of(input, &mut asked);
    let mut hash = DefaultHasher::new();
    for word in words(output.as_str()).filter(|word| !asked.contains(word)) {
        word.hash(&mut hash);
    }
    add_rest(&mut hash, output);
    hash.finish()
}

/// Returns whether a result says that there is nothing.
pub(super) fn is_empty(output: &ToolOutput) -> bool {
    let is_nothing = |text: &str| matches!(text, "" | "[]" | "{}" | "null" | "\"\"");
    output.blocks().is_empty()
        && is_nothing(output.as_str().trim())
        && output.structured().is_none_or(|value| is_nothing(&value.to_string()))
}

fn add_rest(hash: &mut DefaultHasher, output: &ToolOutput) {
    output.structured().map(Value::to_string).hash(hash);
    for block in output.blocks() {
        match block {
            ContentBlock::Text { text } => text.hash(hash),
            // Media are told apart by what they are, as JSON.
            block => serde_json::to_string(block).unwrap_or_default().hash(hash),
        }
    }
}

fn add(hash: &mut DefaultHasher, value: &Value) {
    match value {
        Value::Null => hash.write_u8(0),
        Value::Bool(value) => (1_u8, value).hash(hash),
        Value::Number(number) => {
            hash.write_u8(2);
            // `1` and `1.0` are one number.
            match number.as_f64().filter(|_| number.as_i64().is_none() && number.as_u64().is_none())
            {
                Some(float) if float.fract() == 0.0 => format!("{float:.0}").hash(hash),
                _ => number.to_string().hash(hash),
            }
        }
        Value::String(text) => {
            hash.write_u8(3);
            for word in text.split_whitespace() {
                word.to_lowercase().hash(hash);
            }
        }
        Value::Array(values) => {
            (4_u8, values.len()).hash(hash);
            for value in values {
                add(hash, value);
            }
        }
        Value::Object(fields) => {
            hash.write_u8(5);
            let mut fields: Vec<_> = fields.iter().filter(|(_, value)| !value.is_null()).collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in fields {
                name.hash(hash);
                add(hash, value);
            }
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|char: char| !char.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn words_of(value: &Value, all: &mut HashSet<String>) {
    match value {
        Value::String(text) => all.extend(words(text)),
        Value::Number(number) => all.extend(words(&number.to_string())),
        Value::Array(values) => values.iter().for_each(|value| words_of(value, all)),
        Value::Object(fields) => fields.values().for_each(|value| words_of(value, all)),
        Value::Null | Value::Bool(_) => {}
    }
}
